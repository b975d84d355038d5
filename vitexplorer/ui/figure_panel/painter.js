// Patches are hidden by painting on the picture. The first patch of a gesture says whether it hides or shows, the
// others follow; its end asks. While nothing is painted, the controls that the painter stands in for choose.

// What the painter consists of.
function easel({name, label, rows, cols, covered: [tall, wide], paint}, words) {
  const about = document.createElement('div');
  const add = (parent, tag, className, textContent = '') => {
    const node = Object.assign(document.createElement(tag), {className, textContent});
    parent.append(node);
    return node;
  };
  const field = Object.assign(document.createElement('div'), {className: 'painter'});
  const sheet = picture('sheet', label), cells = add(sheet, 'div', 'cells'), cursor = add(sheet, 'div', 'cursor');
  Object.assign(cells.style, {
    height: `${100 * tall}%`, width: `${100 * wide}%`, gridTemplate: `repeat(${rows}, 1fr) / repeat(${cols}, 1fr)`,
  });
  for (let patch = 0; patch < rows * cols; patch += 1) add(cells, 'i', '');
  add(about, 'strong', '', label);
  const count = add(about, 'output', ''), buttons = add(about, 'div', 'buttons');
  const bare = add(buttons, 'button', '', words.paint_all), release = add(buttons, 'button', '', paint.release);
  const remark = add(about, 'p', 'remark'), help = add(about, 'p', 'help', words.paint_help);
  const here = add(about, 'span', 'unseen');
  bare.type = release.type = 'button';
  remark.setAttribute('role', 'status');
  here.setAttribute('aria-live', 'polite');
  help.id = `vx-${Math.random().toString(36).slice(2)}`;
  sheet.setAttribute('aria-describedby', help.id);
  const input = Object.assign(document.createElement('input'), {type: 'hidden', name});
  about.className = 'about';
  field.append(sheet, about, input);
  return {field, sheet, cells: [...cells.children], cursor, input, count, bare, release, remark, here};
}

function painter(control) {
  const {rows, cols, paint} = control, all = rows * cols, {words} = shown;
  const {field, sheet, cells, cursor, input, count, bare, release, remark, here} = easel(control, words);
  let hidden = new Set(control.value.split(',').filter(Boolean).map(Number));
  let emptied = -1;  // the latest question when all was shown: what still comes of it is not looked at
  let gesture = null;  // {hides, before: what was hidden, at: its last patch}
  let [row, col] = [Math.floor(rows / 2), Math.floor(cols / 2)];
  const has = (at) => nearest(...at, control).join() === at.join();
  const written = () => [...hidden].sort((one, other) => one - other).join();

  function draw() {
    cells.forEach((cell, patch) => cell.classList.toggle('off', hidden.has(patch)));
    const share = Math.round(100 * hidden.size / all);
    count.textContent = filled(words.paint_count, {hidden: hidden.size, all, share});
    field.dataset.hidden = hidden.size;
    bare.disabled = hidden.size === 0;
    release.disabled = !input.value && hidden.size > 0;
    for (const name of paint.instead_of) {
      const other = controls.querySelector(`[name="${CSS.escape(name)}"]`);
      if (other) other.disabled = Boolean(input.value);
    }
  }

  // The view is asked where it can answer: that no patch is hidden is where a person begins, not a question.
  function settle() {
    input.value = written();
    draw();
    if (hidden.size) ask(shown.chosen, settings());
    else {
      emptied = asked;
      remark.textContent = words.paint_bare;
    }
  }

  function dab(at) {
    const patch = at[0] * cols + at[1];
    if (!has(at) || hidden.has(patch) === gesture.hides) return;
    if (!gesture.hides) hidden.delete(patch);
    else if (hidden.size < all - 1) hidden.add(patch);
    else remark.textContent = paint.full;
  }

  // A quick pointer skips patches: every one on the line to it is painted.
  function stroke(to) {
    const {at} = gesture, steps = Math.max(Math.abs(to[0] - at[0]), Math.abs(to[1] - at[1]), 1);
    for (let step = 0; step <= steps; step += 1) {
      dab(to.map((end, axis) => Math.round(at[axis] + (end - at[axis]) * step / steps)));
    }
    gesture.at = to;
    draw();
  }

  function begin(at) {
    gesture = {hides: !hidden.has(at[0] * cols + at[1]), before: written(), at};
    remark.textContent = '';
    stroke(at);
  }

  function end() {
    const {before} = gesture;
    gesture = null;
    if (written() !== before) settle();
  }

  function move(to) {
    [row, col] = nearest(...to, control);
    putOnPatch(cursor, row, col, control);
  }

  bare.addEventListener('click', () => { hidden.clear(); settle(); });
  release.addEventListener('click', () => {
    input.value = remark.textContent = '';
    draw();
    ask(shown.chosen, settings());
  });
  sheet.addEventListener('pointerdown', (event) => {
    const at = patchAt(event, sheet, control);
    if (!event.isPrimary || event.button || !has(at)) return;
    sheet.setPointerCapture(event.pointerId);
    move(at);
    begin(at);
  });
  sheet.addEventListener('pointermove', (event) => {
    if (!event.isPrimary) return;
    const at = patchAt(event, sheet, control);
    move(at);
    if (gesture && at.join() !== gesture.at.join()) stroke(at);
  });
  for (const name of ['pointerup', 'pointercancel']) {
    sheet.addEventListener(name, (event) => { if (gesture && event.isPrimary) end(); });
  }
  sheet.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key];
    if (gesture || (!step && event.key !== ' ')) return;
    event.preventDefault();
    if (step) move([row + step[0], col + step[1]]);
    else { begin([row, col]); end(); }
    const state = hidden.has(row * cols + col) ? words.paint_hidden : words.paint_visible;
    here.textContent = `${writePatch(row, col)}: ${state}`;
  });

  // What the figure hides is painted from here on; without a figure, and during a gesture, what was painted stays.
  field.answer = ({value, paint: answered}) => {
    if (!gesture && emptied !== asked) {
      input.value = value;
      if (answered.hidden) hidden = new Set(answered.hidden);
    }
    draw();
  };
  move([row, col]);
  return field;
}
