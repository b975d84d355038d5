// Light or dark theme of the page, for parts that style sheets do not reach.

/** @returns {'light' | 'dark'} */
export function theme() {
  return document.body.classList.contains('dark') ? 'dark' : 'light';
}

/**
 * Calls back whenever the page becomes dark or light.
 *
 * @param {() => void} callback
 */
export function onTheme(callback) {
  let last = theme();
  const observer = new MutationObserver(() => {
    if (theme() === last) return;
    last = theme();
    callback();
  });
  observer.observe(document.body, {attributes: true, attributeFilter: ['class']});
}

/**
 * Returns the colours and the font of an element, for drawings.
 *
 * @param {Element} node
 */
export function coloursOf(node) {
  const style = getComputedStyle(node);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    text: colour('--body-text-color'),
    muted: colour('--body-text-color-subdued'),
    line: colour('--border-color-primary'),
    accent: colour('--color-accent'),
    paper: colour('--background-fill-primary'),
    font: style.fontFamily,
  };
}
