// Patches on the picture that the model saw: where one lies, which one a pointer is at, where an arrow key leads.

const ARROWS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

function picture(className, label) {
  const box = document.createElement('div'), image = document.createElement('img');
  Object.assign(box, {className, tabIndex: 0, role: 'application'});
  box.setAttribute('aria-label', label);
  Object.assign(image, {src: shown.image.url, alt: '', draggable: false});
  box.append(image);
  return box;
}

// Row and column; beyond the grid where the pointer is beyond it.
function patchAt(event, box, {rows, cols, covered: [tall, wide]}) {
  const {top, left, height, width} = box.getBoundingClientRect();
  const [down, right] = [(event.clientY - top) / height, (event.clientX - left) / width];
  return [Math.floor(down / tall * rows), Math.floor(right / wide * cols)];
}

function nearest(row, col, {rows, cols}) {
  return [Math.min(rows - 1, Math.max(0, row)), Math.min(cols - 1, Math.max(0, col))];
}

function putOnPatch(mark, row, col, {rows, cols, covered: [tall, wide]}) {
  Object.assign(mark.style, {
    top: `${100 * tall * row / rows}%`, left: `${100 * wide * col / cols}%`,
    height: `${100 * tall / rows}%`, width: `${100 * wide / cols}%`,
  });
}

function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

function writePatch(row, col) {
  return filled(shown.words.panel_patch, {row, col});
}
