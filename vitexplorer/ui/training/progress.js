// A training: each method's row with its bar, two charts, stop and resume. The address names it while it is open.

const root = element.querySelector('.vx-progress'), part = (selector) => root.querySelector(selector);
let asked = '';  // stop or resume, until the state answers

function row(data, number) {
  const {colour, dash} = styleOf(number);
  const sample = draw('svg', {viewBox: '0 0 30 10', width: 30, height: 10});
  sample.setAttribute('aria-hidden', 'true');
  sample.append(draw('line', {x1: 0, x2: 30, y1: 5, y2: 5, stroke: colour, 'stroke-width': 3, 'stroke-dasharray': dash}));
  const bar = make('progress', {max: 1, value: data.share});
  bar.setAttribute('aria-label', data.key);
  const node = make('li', {}, sample, make('b', {textContent: data.key}), bar,
    make('span', {className: 'label', textContent: data.label}), make('span', {className: 'detail', textContent: data.detail}));
  if (data.error) node.append(make('p', {className: 'error', textContent: data.error}));
  Object.assign(node.dataset, {run: data.key, state: data.state});
  return node;
}

function show() {
  const value = props.value;
  if (!value?.words?.run_stop) return;
  if (window.vxAddress && (root.dataset.run || '') !== value.run) window.vxAddress({run: value.run});
  root.hidden = !value.run;
  if (asked === 'stop' && value.state !== 'running') asked = '';
  if (asked === 'resume' && value.state === 'running') asked = '';
  Object.assign(root.dataset, {run: value.run, state: value.state || 'empty'});
  if (!value.run) return;
  const {words} = value;
  part('h3').textContent = value.title;
  part('.doing').textContent = [asked === 'stop' ? words.run_stopping : value.doing, value.left].filter(Boolean).join(' · ');
  part('.stop').textContent = words.run_stop;
  part('.resume').textContent = words.run_resume;
  part('.stop').hidden = value.state !== 'running';
  part('.stop').disabled = asked === 'stop';
  part('.resume').hidden = !['stopped', 'interrupted', 'failed'].includes(value.state);
  part('.resume').disabled = asked === 'resume';
  const whole = part('.whole');
  whole.hidden = value.state !== 'running';
  if (value.share === null) whole.removeAttribute('value');
  else whole.value = value.share;
  whole.setAttribute('aria-label', value.title);
  part('.top + .whole + .error').textContent = value.error;
  part('.top + .whole + .error').hidden = !value.error;
  part('.rows').replaceChildren(...value.rows.map(row));
  part('.notes').textContent = value.notes.join(' ');
  const pointed = value.rows.some(({loss, metric}) => loss.length || metric.length) || value.baseline !== null;
  part('.charts').hidden = !pointed;
  if (!pointed) return;
  const lines = (kind) => value.rows.map((one) => ({name: one.key, points: one[kind]}));
  chart(part('.loss'), {title: words.run_loss, xName: words.run_axis, lines: lines('loss'), xMax: value.epochs});
  chart(part('.metric'), {
    title: value.metric, xName: words.run_axis, lines: lines('metric'), xMax: value.epochs, percent: value.is_share,
    range: value.is_share ? [0, 1] : null,
    level: value.baseline === null ? null : {value: value.baseline, name: words.run_baseline},
  });
}

for (const kind of ['stop', 'resume']) {
  part(`button.${kind}`).addEventListener('click', () => { asked = kind; show(); trigger(kind, {}); });
}
watch('value', show);
show();
