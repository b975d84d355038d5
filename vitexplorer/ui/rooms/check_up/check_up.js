// The check-up: ways to begin, checks that are ticked off, and the verdict with its proof.

import {filled, make, onFiles, refill, setText, showSentence} from '../../kit/dom.js';
import {labelled, percent} from '../../kit/formats.js';
import {newAside, showHead} from '../../kit/frame.js';
import {offersPicture} from '../../kit/saving.js';
import {sendFiles} from '../../kit/sending.js';
import {onTheme, theme} from '../../kit/theme.js';
import {drawing} from '../../panel/figure_drawing.js';

const FORMATS = ['png2', 'png4', 'svg'];
const MARKS = {done: '✓', working: '…', waiting: ''};

/** Draws a share before and after a repair as two bars. */
const meter = ({before, after}) =>
  make('div.meter', ...[before, after].map((share) => make('i', {style: {width: `${100 * share}%`}})));

/** @param {import('../../kit/widget.js').Gradio} gradio */
export function mount({root, part, props, trigger}) {
  let begin = null; // the last data before a check-up, with all words
  let report = null; // the last verdict
  let chosen = 0; // number of the finding on the stage
  const figure = drawing(part('.proof'), part('.figure'), () => {});
  const aside = newAside(root, save);
  offersPicture(root, figure.picture);

  const current = () => report?.findings[chosen];

  function save(format) {
    figure.save(format, `check_up-${current().cause || 'healthy'}`);
  }

  // ------------------------------------------------------------------------------------ beginning

  function start(asked) {
    show({state: 'working', waits: begin.words.getting, checks: []});
    trigger('check', asked);
  }

  async function take(file) {
    const {words} = begin;
    const tell = (share) => show({state: 'working', waits: filled(words.sending, {share: percent(share)}), checks: []});
    tell(0);
    const came = await sendFiles([file], tell);
    if (came.files) start(came);
    else show({state: 'refused', refused: came.refused || words.lost});
  }

  function showBegin({examples, local, model, words}) {
    setText(part('.begin h3'), words.examples);
    refill(
      part('.examples'),
      ...examples.map(({key, title, story, picture, label}) =>
        make(
          'li.card',
          {dataset: {key}},
          make('figure', make('img', {src: picture.url, alt: title}), make('figcaption', label)),
          make(
            'div',
            make('h4', title),
            make('p', story),
            make('button', {ariaLabel: labelled(words.try, title), onclick: () => start({key})}, words.try),
          ),
        ),
      ),
    );
    setText(part('.own h3'), words.own);
    setText(part('.model'), model);
    setText(part('.zip'), words.zip);
    setText(part('.hint'), words.hint);
    setText(part('.alone'), words.alone);
    setText(part('.again'), words.again);
    setText(part('.stop'), words.stop);
    const folder = part('.folder');
    folder.hidden = !local;
    setText(folder.querySelector('button'), words.read);
    Object.assign(folder.querySelector('input'), {placeholder: words.folder, ariaLabel: words.folder});
  }

  // ------------------------------------------------------------------------------------ working

  function showWork({checks, waits}) {
    refill(
      part('.checks'),
      ...checks.map(({title, state}) =>
        make('li', {dataset: {state}}, make('span.mark', {ariaHidden: 'true'}, MARKS[state]), make('span.name', title)),
      ),
    );
    const working = checks.find(({state}) => state === 'working');
    setText(part('.waits'), waits || working?.title || '');
    part('.waits').classList.toggle('unseen', !waits);
  }

  // ------------------------------------------------------------------------------------ verdict

  function showFindings({findings}) {
    const {words} = begin;
    refill(
      part('.findings'),
      ...findings
        .filter(({cause}) => cause)
        .map((finding, at) =>
          make(
            'li.card',
            {dataset: {cause: finding.cause}},
            make(
              'button.title',
              {ariaPressed: String(at === chosen), onclick: () => choose(at)},
              make('b', finding.title),
              make('small', finding.sure),
            ),
            make('p', finding.sentence),
            finding.before === null ? null : meter(finding),
            make(
              'details',
              make('summary', words.repair),
              make('p', finding.mend),
              make('p', finding.change),
              finding.python && make('pre.python', {tabIndex: 0}, finding.python),
            ),
          ),
        ),
    );
  }

  function choose(at) {
    chosen = at;
    showFindings(report);
    draw();
  }

  async function draw() {
    const {words} = begin;
    const file = current()?.figures[theme()];
    setText(part('.none'), file ? '' : words.no_proof);
    aside.show(
      {
        ...report,
        words,
        misleads: begin.misleads,
        next: begin.next,
        next_room: begin.next_room,
        facts: current()?.facts,
      },
      file ? FORMATS : [],
    );
    part('.figure').setAttribute('aria-label', current()?.sentence || report.reading);
    part('.figure').hidden = !file;
    if (!file) return figure.forget();
    await figure.draw(file);
    root.dataset.drawn = current()?.cause || 'healthy';
  }

  function showDone(value) {
    report = value;
    chosen = 0;
    root.dataset.verdict = value.verdict;
    setText(part('.reading'), value.reading);
    showFindings(value);
    const {undecided, words} = {...value, words: begin.words};
    part('.undecided').hidden = !undecided.length;
    setText(part('.undecided summary'), filled(words.undecided, {count: undecided.length}));
    refill(part('.undecided ul'), ...undecided.map(({title, why}) => make('li', make('b', title), ' ', why)));
    setText(part('.checked'), value.checked);
    draw().catch((error) => console.warn('check-up:', error));
  }

  /** Returns to the beginning, with a reason where there was no verdict. */
  function reset(reason = '') {
    report = null;
    root.dataset.state = 'begin';
    delete root.dataset.verdict;
    delete root.dataset.drawn;
    showHead(root, begin);
    figure.forget();
    refill(part('.findings'));
    showSentence(part('.refused'), reason);
    aside.show(begin);
  }

  function show(value) {
    if (value.state === 'refused') return reset(value.refused);
    root.dataset.state = value.state;
    showSentence(part('.refused'), '');
    if (value.state === 'working') showWork(value);
    else showDone(value);
  }

  onFiles(part('.file'), ([file]) => take(file));
  root.addEventListener('dragover', (event) => event.preventDefault());
  root.addEventListener('drop', (/** @type {DragEvent} */ event) => {
    const zip = [...event.dataTransfer.files].find(({name}) => name.toLowerCase().endsWith('.zip'));
    if (!zip || root.dataset.state === 'working') return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere on the page a zip is a model
    take(zip);
  });
  part('.folder').addEventListener('submit', (event) => {
    event.preventDefault();
    start({text: part('.folder input').value});
  });
  part('.alone').addEventListener('click', () => start({what: 'weights'}));
  part('.stop').addEventListener('click', () => trigger('stop', {}));
  part('.again').addEventListener('click', () => reset());
  onTheme(() => {
    if (report) draw();
  });

  return () => {
    const value = props.value;
    if (!value?.state) return;
    if (value.state !== 'begin') return show(value);
    // Another picture keeps the verdict on the screen; another model or language begins anew.
    const isSame = begin && begin.model === value.model && begin.language === value.language;
    begin = value;
    showBegin(value);
    if (!isSame) reset();
  };
}
