// Elements and texts of the page. Text is always set as text; nothing here parses markup.

/**
 * @template {string} Selector
 * @typedef {Selector extends `${infer Tag extends keyof HTMLElementTagNameMap}.${string}`
 *   ? HTMLElementTagNameMap[Tag]
 *   : Selector extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Selector] : HTMLElement} ElementOf
 */

/** @typedef {Node | string | number | null | undefined} Child */

/**
 * Makes an element with its classes, properties, attributes and children. A button submits no form.
 *
 * @template {string} Selector
 * @param {Selector} selector tag and classes: `button.close`
 * @param {...(Record<string, any> | Child)} parts children, of which empty ones are left out; before them, if there are
 *   any, the properties of the element (`title`, `onclick`); `dataset`, `style` and `attributes`
 *   (`{'aria-label': text}`) are filled in name by name
 * @returns {ElementOf<Selector>}
 */
export function make(selector, ...parts) {
  const [tag, ...classes] = selector.split('.');
  const options = parts[0]?.constructor === Object ? parts.shift() : {};
  const {dataset = {}, style = {}, attributes = {}, ...properties} = /** @type {Record<string, any>} */ (options);
  const node = /** @type {any} */ (document.createElement(tag));
  if (tag === 'button') node.type = 'button';
  if (classes.length) node.className = classes.join(' ');
  Object.assign(node, properties);
  Object.assign(node.dataset, dataset);
  for (const [name, value] of Object.entries(style)) node.style.setProperty(name, value);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...parts.filter((part) => part !== null && part !== undefined && part !== ''));
  return node;
}

/**
 * Sets a text; leaves the page alone if the text is the same as before.
 *
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const TAKES_FOCUS = 'a[href], button, input, select, textarea, summary, [tabindex]';

/**
 * Replaces the children of an element; the focus stays at the same position among them.
 *
 * @param {Element} parent
 * @param {...(Node | string)} children
 */
export function refill(parent, ...children) {
  const places = () => /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(TAKES_FOCUS)]);
  const at = places().indexOf(/** @type {any} */ (document.activeElement));
  parent.replaceChildren(...children);
  if (at >= 0)
    places()
      .slice(0, at + 1)
      .at(-1)
      ?.focus({preventScroll: true});
}

const COUNTED = /\{(\w+)(?::(~?)([a-z][a-z ]+)(?:\/([a-z][a-z ]*))?)?\}/g;
const SPACE_AFTER_MARK = /(?<=[）。？！]) (?=[\u4e00-\u9fff])/g;

/**
 * Fills the {names} of a sentence from Python; a name without a value stays as it is, so that the mistake is visible.
 * `{n:patch}` becomes "1 patch" or "2 patches"; `{n:image is/images are}` names both forms, and `{n:~is/are}` leaves
 * the number out, as in `Text.format` of Python. No space follows a Chinese mark, which has one of its own.
 *
 * @param {string} template
 * @param {Record<string, string | number>} values
 * @returns {string}
 */
export function filled(template, values) {
  const sentence = template.replace(COUNTED, (whole, name, isAlone, one, many) => {
    if (values[name] === undefined || values[name] === null) return whole;
    const text = String(values[name]);
    if (!one) return text;
    const regular = /(s|x|ch|sh)$/.test(one) ? `${one}es` : `${one}s`;
    const word = text === '1' ? one : (many ?? regular);
    return isAlone ? word : `${text} ${word}`;
  });
  return sentence.replace(SPACE_AFTER_MARK, '');
}

/**
 * Makes a table of texts.
 *
 * @param {string} caption
 * @param {string[]} head headings of the columns
 * @param {string[][]} rows
 * @param {boolean} [named] true if the first cell of a row is its name
 */
export function table(caption, head, rows, named = false) {
  const heading = (text, scope) => make('th', {scope}, text);
  const cell = (text) => make('td', text);
  const line = (cells) =>
    make('tr', ...cells.map((text, at) => (named && at === 0 ? heading(text, 'row') : cell(text))));
  return make(
    'table',
    make('caption', caption),
    make('thead', make('tr', ...head.map((text) => heading(text, 'col')))),
    make('tbody', ...rows.map(line)),
  );
}

/**
 * Makes a button to delete something, which asks for confirmation in its own text.
 *
 * @param {string} text
 * @param {string} question
 * @param {boolean} disabled
 * @param {() => void} act called when it is pressed again
 */
export function deleteButton(text, question, disabled, act) {
  const button = make('button.delete', {disabled}, text);
  button.onclick = () => {
    if (button.textContent === question) act();
    else button.textContent = question;
  };
  button.onblur = () => setText(button, text);
  return button;
}

/**
 * Returns the first visible element of the page; undefined for none.
 *
 * @param {string} selector
 * @returns {HTMLElement | undefined}
 */
export const visible = (selector) => [...document.querySelectorAll(selector)].find((node) => node.checkVisibility());

/**
 * Shows a sentence; an empty one hides its element.
 *
 * @param {HTMLElement} node
 * @param {string} sentence
 */
export function showSentence(node, sentence) {
  setText(node, sentence);
  node.hidden = !sentence;
}

/**
 * Calls back with the files that a person chooses; the same file can be chosen again.
 *
 * @param {HTMLInputElement} input
 * @param {(files: File[]) => void} take
 */
export function onFiles(input, take) {
  input.addEventListener('change', () => {
    const files = [...input.files];
    input.value = '';
    if (files.length) take(files);
  });
}

const STEPS = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1};

/**
 * Moves the focus among buttons by arrow keys, around the ends.
 *
 * @param {KeyboardEvent} event
 * @param {Iterable<HTMLElement>} all
 * @param {boolean} [jumps] true where Home and End lead to the first and the last
 * @returns {HTMLElement | null} the newly focused button; null where the key moves nothing
 */
export function stepFocus(event, all, jumps = false) {
  const buttons = [...all];
  const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
  const ends = jumps ? {Home: 0, End: buttons.length - 1} : {};
  const to = ends[event.key] ?? (at + STEPS[event.key] + buttons.length) % buttons.length;
  if (at < 0 || Number.isNaN(to)) return null;
  event.preventDefault();
  buttons[to].focus();
  return buttons[to];
}
