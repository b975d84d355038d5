// Choice of images and the report on them. Picking a column asks Python, which reads the images again.

import {inAddress, writeAddress} from '../../kit/address.js';
import {filled, make, onFiles, refill, setText} from '../../kit/dom.js';
import {labelled, percent} from '../../kit/formats.js';
import {sendFiles} from '../../kit/sending.js';

/** Draws counts as bars, one for each class or range of numbers. */
function chart({chart: title, bars, more}) {
  const most = Math.max(1, ...bars.map(({count}) => count));
  const rows = bars.map(({name, count}) =>
    make(
      'li',
      make('span.name', {title: name}, name),
      make('span.bar', make('i', {style: {width: `${(100 * count) / most}%`}})),
      make('span.count', count),
    ),
  );
  const rest = more ? [make('p', more)] : [];
  return make('div.chart', make('h4', title), make('ul', ...rows), ...rest);
}

function findings({findings: found, words}) {
  const list = found.map(({level, text}) =>
    make('li', {className: level}, make('b', words[`report_level_${level}`]), text),
  );
  return make(
    'div.findings',
    make('h4', words.report_found),
    list.length ? make('ul', ...list) : make('p', words.report_nothing),
  );
}

function samples({samples: images, words}) {
  return make(
    'div.samples',
    ...images.map(({image, label}) =>
      make(
        'figure',
        make('img', {src: image.url, alt: labelled(words.report_sample, label)}),
        make('figcaption', label),
      ),
    ),
  );
}

/** Returns the state of the report, for styles and tests. */
function stateOf({refused, title, can_train: trains}) {
  if (refused) return 'refused';
  if (!title) return 'empty';
  return trains ? 'ready' : 'stopped';
}

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({part, props, trigger}) {
  const root = part('.vx-report');
  const folder = part('.folder');
  let shown = null; // the last value with words; gradio empties it at times
  let linked = inAddress('images') === 'scenes' && !inAddress('run'); // a linked training has images of its own

  function select(name, label, options, value) {
    const input = make('select', {name}, ...options.map(([key, text]) => new Option(text, key)));
    input.value = value;
    input.addEventListener('change', () => {
      const fields = [...root.querySelectorAll('.columns select')].map((one) => [one.name, one.value]);
      const picked = Object.fromEntries(fields);
      trigger('pick', name === 'target' ? {...picked, task: ''} : picked);
    });
    return make('label', label, input);
  }

  /** Shows the choice of columns; nothing for class folders. */
  function columns({columns: names, image_column: image, target_column: target, task, words}) {
    if (!names.length) return [];
    const own = names.map((name) => [name, name]);
    const tasks = ['classification', 'regression'].map((key) => [key, words[`report_${key}`]]);
    return [
      make(
        'div.columns',
        select('image', words.report_image_column, own, image),
        select('target', words.report_target_column, own, target),
        select('task', words.report_task, tasks, task),
      ),
    ];
  }

  function showWorking(text) {
    const line = root.querySelector(':scope > .working') ?? make('p.working', {role: 'status'});
    line.textContent = text;
    root.prepend(line);
    root.dataset.state = 'working';
  }

  /** Draws the example scenes once if the link names them; a link cannot name other images. */
  function follow({title, example}) {
    if (title) writeAddress({images: example ? 'scenes' : ''});
    else if (linked) trigger('draw', {});
    linked = false;
  }

  function body(value) {
    const {title, summary, can_train: trains, words} = value;
    if (!title) return value.refused ? [] : [make('p.hint', words.report_none)];
    return [
      make('h3', title),
      make('p.summary', {role: 'status'}, trains ? summary : words.report_stopped),
      ...columns(value),
      make('div.both', chart(value), make('div', findings(value), samples(value))),
    ];
  }

  /** Sends a zip and has it read. */
  async function take(file) {
    const {words} = shown;
    const came = await sendFiles([file], (share) => showWorking(filled(words.report_sending, {share: percent(share)})));
    if (came.files) trigger('unpack', came);
    else showReport({...shown, working: '', refused: came.refused || words.report_lost});
  }

  function showWays(words) {
    setText(part('.zip'), words.report_zip);
    setText(part('.scenes'), words.report_scenes);
    setText(folder.querySelector('button'), words.report_read);
    Object.assign(folder.querySelector('input'), {placeholder: words.report_folder, ariaLabel: words.report_folder});
  }

  function showReport(value) {
    const refused = value.refused ? [make('p.refused', {role: 'status'}, value.refused)] : [];
    root.dataset.state = stateOf(value);
    refill(root, ...refused, ...body(value));
    follow(value);
  }

  onFiles(part('.file'), ([file]) => take(file));
  part('.scenes').addEventListener('click', () => trigger('draw', {}));
  folder.addEventListener('submit', (event) => {
    event.preventDefault();
    trigger('read', {text: folder.querySelector('input').value});
  });

  return () => {
    const value = props.value;
    if (!value?.words?.report_none) return;
    shown = value;
    showWays(value.words);
    if (value.working) showWorking(value.working);
    else showReport(value);
  };
}
