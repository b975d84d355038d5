// The controls of a view: made anew when their kind changes; an answer brings them to what its figure was made with.

function settings() {
  const given = {};
  for (const field of controls.children) {
    given[field.dataset.name] = field.matches('fieldset')
      ? [...field.querySelectorAll('input:checked')].map((box) => box.value).join() || ','
      : field.querySelector('[name]').value;
  }
  return given;
}

function boxes(control) {
  const group = document.createElement('fieldset'), legend = document.createElement('legend');
  const chosen = new Set(control.value.split(','));
  legend.textContent = control.label;
  group.append(legend, ...control.options.map((option) => {
    const label = document.createElement('label'), box = document.createElement('input');
    Object.assign(box, {type: 'checkbox', value: option.value, checked: chosen.has(option.value)});
    label.append(box, option.label);
    return label;
  }));
  group.addEventListener('change', () => ask(shown.chosen, settings()));
  return group;
}

function field(control) {
  if (control.paint) return painter(control);
  if (control.several) return boxes(control);
  const label = document.createElement('label'), name = document.createElement('span');
  name.textContent = control.label;
  let input;
  if (control.options.length || control.rows) {  // a patch that is picked is put into the list
    input = document.createElement('select');
    input.append(...control.options.map((option) => new Option(option.label, option.value)));
  } else {
    input = document.createElement('input');
    input.type = control.low === null ? 'text' : 'range';
    if (control.low !== null) Object.assign(input, {min: control.low, max: control.high, step: control.step});
  }
  input.name = control.name;
  input.value = control.value;
  label.append(name, input);
  const output = document.createElement('output'), write = () => { output.textContent = input.value; };
  if (input.type === 'range') {
    input.addEventListener('input', write);
    label.append(output);
  }
  label.answer = ({value}) => {
    if (document.activeElement !== input) input.value = value;
    write();
  };
  input.addEventListener('change', () => ask(shown.chosen, settings()));
  if (control.rows) {
    choose(input, control.value);
    const patches = picker(control, input);
    label.append(patches);
    label.answer = patches.answer;
  }
  return label;
}

// What makes a control another one: all of it but what changes from answer to answer.
function kind({value, options, paint, ...fixed}) {
  const listed = fixed.rows ? options.filter((option) => !option.value.includes(',')) : options;
  return {...fixed, listed, paint: paint && {...paint, hidden: null}};
}

function showControls(value) {
  const shape = JSON.stringify([value.chosen, value.image?.url, value.controls.map(kind)]);
  if (controls.dataset.shape !== shape) {
    controls.dataset.shape = shape;
    controls.style.setProperty('--others', value.controls.length - 1);
    controls.replaceChildren(...value.controls.map((control) => {
      const made = field(control);
      made.dataset.name = control.name;
      return made;
    }));
  }
  for (const [place, control] of value.controls.entries()) controls.children[place].answer?.(control);
}
