// The data report. A column that is picked asks Python, which reads the images again.

const root = element.querySelector('.vx-report');

function select(name, label, options, value) {
  const input = make('select', {name});
  input.append(...options.map(([key, text]) => new Option(text, key)));
  input.value = value;
  input.addEventListener('change', () => {
    const picked = Object.fromEntries([...root.querySelectorAll('.columns select')].map((one) => [one.name, one.value]));
    trigger('pick', name === 'target' ? {...picked, task: ''} : picked);
  });
  return make('label', {}, label, input);
}

function columns({columns: names, image_column: image, target_column: target, task, words}) {
  if (!names.length) return null;
  const own = names.map((name) => [name, name]);
  return make('div', {className: 'columns'},
    select('image', words.report_image_column, own, image),
    select('target', words.report_target_column, own, target),
    select('task', words.report_task, [
      ['classification', words.report_classification], ['regression', words.report_regression],
    ], task));
}

function chart({chart: title, bars, more}) {
  const most = Math.max(1, ...bars.map(({count}) => count));
  const rows = bars.map(({name, count}) => {
    const bar = make('i');
    bar.style.width = `${100 * count / most}%`;
    return make('li', {}, make('span', {className: 'name', textContent: name, title: name}),
      make('span', {className: 'bar'}, bar), make('span', {className: 'count', textContent: count}));
  });
  return make('div', {className: 'chart'}, make('h4', {textContent: title}), make('ul', {}, ...rows),
    more && make('p', {textContent: more}));
}

function findings({findings: found, words}) {
  const list = found.map(({level, text}) => make('li', {className: level},
    make('b', {textContent: words[`report_level_${level}`]}), text));
  return make('div', {className: 'findings'}, make('h4', {textContent: words.report_found}),
    list.length ? make('ul', {}, ...list) : make('p', {textContent: words.report_nothing}));
}

function samples({samples: images, words}) {
  return make('div', {className: 'samples'}, ...images.map(({image, label}) => make('figure', {},
    make('img', {src: image.url, alt: `${words.report_sample}: ${label}`}), make('figcaption', {textContent: label}))));
}

function show() {
  const value = props.value;
  if (!value?.words?.report_none) return;
  const {words} = value;
  if (value.working) {
    const line = root.querySelector(':scope > .working') ?? make('p', {className: 'working', role: 'status'});
    line.textContent = value.working;
    root.prepend(line);
    root.dataset.state = 'working';
    return;
  }
  root.dataset.state = value.refused ? 'refused' : value.title ? (value.can_train ? 'ready' : 'stopped') : 'empty';
  const refused = value.refused ? make('p', {className: 'refused', role: 'status', textContent: value.refused}) : null;
  if (!value.title) { root.replaceChildren(refused ?? make('p', {className: 'hint', textContent: words.report_none})); return; }
  root.replaceChildren(...[
    refused,
    make('h3', {textContent: value.title}),
    make('p', {className: 'summary', role: 'status', textContent: value.can_train ? value.summary : words.report_stopped}),
    columns(value),
    make('div', {className: 'both'}, chart(value), make('div', {}, findings(value), samples(value))),
  ].filter(Boolean));
}
watch('value', show);
show();
