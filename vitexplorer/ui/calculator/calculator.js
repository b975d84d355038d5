// A table from data. Every string reaches the page through textContent.
const root = element.querySelector('.vx-count');
const part = (selector) => root.querySelector(selector);
const columnNames = ['name', 'symbols', 'numbers', 'count', 'share'];
let before = new Map(), title = null; // counts under the same title in the last value, to mark what a slider moved

const spaced = (count) => count.toLocaleString('en').replace('-', '\u2212');
const tiny = (share) => share !== 0 && Math.abs(share) < 0.0005;
const percent = (share) => (tiny(share) ? '< 0.1 %' : `${(100 * share).toFixed(1).replace('-', '\u2212')} %`);

function make(tag, className, text = '') {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.textContent = text;
  return node;
}

// Letters lean, digits and operators stand, x_c gets an index; a long sum breaks between its products.
function formula(text) {
  const node = make('span', 'math');
  for (const [piece, letters, index] of text.replaceAll(' \u00b7 ', '\u00a0\u00b7\u00a0').matchAll(/([A-Za-z\u03b1-\u03c9]+)(?:_(\w+))?|[^]/g)) {
    node.append(letters ? make(letters.length === 1 ? 'i' : 'span', '', letters) : piece);
    if (index) node.append(make('sub', '', index));
  }
  return node;
}

function change(row, words) {
  const last = before.get(row.name);
  if (last === undefined || last === row.count) return [];
  const mark = make('span', 'change', row.count > last ? '\u25b2' : '\u25bc');
  mark.title = row.count > last ? words.grew : words.fell;
  mark.setAttribute('role', 'img');
  mark.setAttribute('aria-label', mark.title);
  return [mark];
}

function shareCell(share) {
  const cell = make('td', 'share'), bar = make('span', 'bar'), filled = make('i', '');
  bar.setAttribute('aria-hidden', 'true');
  filled.style.width = `${100 * Math.min(1, Math.abs(share))}%`;
  if (share) bar.append(filled);
  cell.append(bar, make('span', 'percent', percent(share)));
  return cell;
}

function cell(column, row, words) {
  if (column === 'share') return shareCell(row.share);
  if (column === 'name') {
    const name = make('th', 'name', row.name);
    name.scope = 'row';
    return name;
  }
  const node = make('td', column);
  if (column === 'count') node.append(...change(row, words), make('span', 'math', spaced(row.count)));
  else node.append(formula(row[column]));
  return node;
}

function heading(column, text) {
  const node = make('th', column, text);
  node.scope = 'col';
  return node;
}

function totalCells(columns, value) {
  const name = make('th', 'name', value.words.total);
  name.scope = 'row';
  name.colSpan = columns.indexOf('count');
  const count = make('td', 'count'), share = make('td', 'share');
  count.append(make('span', 'math', spaced(value.total)));
  if (value.total) share.append(make('span', 'percent', percent(1)));
  return [name, count, share];
}

function show() {
  const value = props.value;
  root.toggleAttribute('data-empty', !value);
  if (!value) return;
  root.toggleAttribute('data-bare', !value.rows.length);
  if (value.title !== title) before = new Map();
  title = value.title;
  const columns = columnNames.filter((column) => !['symbols', 'numbers'].includes(column) || value.rows.some((row) => row[column]));
  root.toggleAttribute('data-formula', columns.length > 3);
  part('.exact').textContent = spaced(value.total);
  part('.unit').textContent = value.unit;
  part('.compact').textContent = value.compact === String(value.total) ? '' : `\u2248 ${value.compact}`;
  part('caption').textContent = value.title;
  part('.scroll').setAttribute('aria-label', value.title);
  part('thead tr').replaceChildren(...columns.map((column) => heading(column, value.columns[column])));
  part('tbody').replaceChildren(
    ...value.rows.map((row) => {
      const line = make('tr', '');
      line.append(...columns.map((column) => cell(column, row, value.words)));
      return line;
    }),
  );
  part('tfoot tr').replaceChildren(...totalCells(columns, value));
  part('.note').textContent = value.note;
  part('.note').hidden = !value.note;
  before = new Map(value.rows.map((row) => [row.name, row.count]));
}
watch('value', show);
show();
