// One patch is picked on the picture: the one under the mouse is asked for, a click holds it.

// A patch that is picked stands in the list of tokens as its last entry.
function choose(select, value) {
  for (const option of [...select.options]) if (option.value.includes(',')) option.remove();
  if (value.includes(',')) select.append(new Option(writePatch(...value.split(',')), value));
  select.value = value;
}

function picker(control, select) {
  const box = picture('picker', shown.words.panel_pick), mark = document.createElement('div');
  let held = false, last = control.value, wanted = null;
  box.title = shown.words.panel_pick;
  box.append(mark);
  const place = () => {
    mark.hidden = !select.value.includes(',');
    const [row, col] = select.value.split(',').map(Number);
    putOnPatch(mark, row, col, control);
  };
  const go = (row, col) => {
    wanted = nearest(row, col, control).join();
    if (wanted === last && select.value === wanted) return;
    choose(select, wanted);
    place();
    if (pending) return;
    last = wanted;
    ask(shown.chosen, settings());
  };
  box.addEventListener('pointermove', (event) => {
    if (!held && event.pointerType === 'mouse') go(...patchAt(event, box, control));
  });
  box.addEventListener('click', (event) => {
    held = !held;
    box.classList.toggle('held', held);
    go(...patchAt(event, box, control));
  });
  box.addEventListener('keydown', (event) => {
    const step = ARROWS[event.key];
    if (!step) return;
    event.preventDefault();
    const [row, col] = select.value.includes(',') ? select.value.split(',').map(Number) : [0, 0];
    go(row + step[0], col + step[1]);
  });
  // An answer arrived: the mark stands where the control does, or the mouse is further already.
  box.answer = ({value}) => {
    if (wanted && wanted !== last && select.value === wanted) { last = wanted; ask(shown.chosen, settings()); return; }
    last = value;
    choose(select, value);
    place();
  };
  place();
  return box;
}
