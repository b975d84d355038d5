// Earlier trainings. Deleting asks once more in the button itself.

const root = element.querySelector('.vx-history'), list = root.querySelector('ul');

function row({run, text, begun, running}, opened, words) {
  const when = new Date(1000 * begun).toLocaleString(document.documentElement.lang || undefined, {dateStyle: 'medium', timeStyle: 'short'});
  const open = button(words.runs_open, {disabled: run === opened}, () => trigger('reopen', {run}));
  let sure = false;
  const remove = button(words.runs_delete, {disabled: running, className: 'delete'}, () => {
    if (sure) { trigger('remove', {run}); return; }
    sure = true;
    remove.textContent = words.runs_sure;
  });
  remove.addEventListener('blur', () => { sure = false; remove.textContent = words.runs_delete; });
  const node = make('li', {}, make('span', {textContent: begun ? when : ''}), make('span', {className: 'text', textContent: text}), open, remove);
  node.dataset.run = run;
  return node;
}

function show() {
  const value = props.value;
  if (!value?.words?.runs_title) return;
  const {words, trainings} = value;
  root.querySelector('summary').textContent = `${words.runs_title} (${trainings.length})`;
  list.replaceChildren(...(trainings.length ? trainings.map((one) => row(one, value.open, words)) : [make('li', {textContent: words.runs_none})]));
  root.dataset.count = trainings.length;
}
watch('value', show);
show();
