// Leaderboard, images and files. A row that is pressed becomes the chosen run; an image that is pressed opens the rooms.

const root = element.querySelector('.vx-results'), part = (selector) => root.querySelector(selector);
let shown = null, fetched = '';

function table({rows, metric, baseline, constant, chosen, words}) {
  const head = ['', words.board_method, metric, words.board_trainable, words.board_time, words.board_file];
  const body = rows.map((one) => {
    const choose = button(one.run, {className: 'run'}, () => trigger('choose', {run: one.run}));
    choose.setAttribute('aria-pressed', String(one.run === chosen));
    const row = make('tr', {}, make('td', {textContent: one.place}),
      make('td', {}, choose, one.note && make('small', {textContent: one.note})),
      ...[one.value, one.trainable, one.time, one.file].map((text) => make('td', {textContent: text})));
    row.dataset.run = one.run;
    if (one.run === chosen) row.className = 'chosen-row';
    return row;
  });
  const plain = [[words.board_baseline, baseline], [words.board_constant, constant]].filter(([, value]) => value)
    .map(([name, value]) => make('tr', {className: 'plain'}, make('td'), make('td', {textContent: name}),
      make('td', {textContent: value}), make('td'), make('td'), make('td')));
  return make('table', {}, make('thead', {}, make('tr', {}, ...head.map((text) => make('th', {textContent: text, scope: 'col'})))),
    make('tbody', {}, ...body, ...plain));
}

function image({index, image: file, label}) {
  const node = button('', {title: label, disabled: !shown.opens}, () => trigger('open', {run: shown.chosen, index}));
  node.dataset.index = index;
  node.append(make('img', {src: file.url, alt: ''}), make('span', {textContent: label}));
  return node;
}

function fetchFile(what) {
  part('.working').textContent = shown.words.board_preparing;
  part('.refused').hidden = true;
  trigger('fetch', {run: shown.chosen, what});
}

function download(file) {
  const link = make('a', {href: file.url, download: file.orig_name});
  document.body.append(link);
  link.click();
  link.remove();
}

function show() {
  const value = props.value;
  if (!value) return;
  part('.working').textContent = value.working;
  part('.refused').textContent = value.refused;
  part('.refused').hidden = !value.refused;
  if (value.download && value.download.url !== fetched) { fetched = value.download.url; download(value.download); }
  if (!value.words?.board_title) return;
  shown = value;
  fetched = '';
  const {words} = value;
  root.hidden = !value.rows.length;
  root.dataset.state = value.rows.length ? 'ready' : 'empty';
  root.dataset.rows = value.rows.length;
  if (!value.rows.length) return;
  part('h3').textContent = words.board_title;
  part('.table').replaceChildren(table(value));
  part('.verdicts').replaceChildren(make('h4', {textContent: words.board_really}), ...value.verdicts.map((text) => make('p', {textContent: text})));
  part('.chosen h3').textContent = filled(words.board_chosen, {run: value.chosen});
  part('.buttons').replaceChildren(
    ...(value.opens ? [
      button(words.board_open, {className: 'open'}, () => trigger('open', {run: value.chosen})),
      button(words.board_changed, {className: 'changed'}, () => trigger('changed', {run: value.chosen})),
    ] : []),
    make('span', {textContent: words.board_downloads}),
    ...value.files.map(({what, label}) => {
      const node = button(label, {}, () => fetchFile(what));
      node.dataset.what = what;
      return node;
    }));
  part('.wrong-title').textContent = value.wrong_title;
  part('.wrong').replaceChildren(...value.wrong.map(image));
}
watch('value', show);
show();
