// Drawing and saving of a plotly figure. plotly.js is fetched with the first figure. A figure's file holds several
// layouts; the one that fits best is stretched to the available size, and letters keep their size.

import {make, setText} from '../kit/dom.js';
import {drawFigure, plotly} from '../kit/plotly.js';
import {faded, newFading} from './fading.js';
import {fitted, folded, put, stretched} from './fitting.js';
import {newPresses} from './presses.js';

/**
 * @param {HTMLElement} stage element whose size the figure fills
 * @param {any} figure element in it that plotly draws in
 * @param {(point: any) => void} clicked
 */
export function drawing(stage, figure, clicked) {
  const fading = newFading(stage, () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(lay);
  });
  const pressed = (point) => {
    const {mix} = point.data.meta ?? {};
    if (mix === undefined) clicked(point);
    else fading.set(mix);
  };
  const presses = newPresses(stage, pressed);
  const unfold = make('button.unfold', {ariaExpanded: 'false', hidden: true, onclick: toggle});
  figure.after(unfold);
  let waiting = 0;
  let library = null;
  let file = null;
  let shownUrl = '';
  let wantedUrl = '';
  let room = '';

  function size() {
    const isBounded = getComputedStyle(stage).getPropertyValue('--bounded').trim();
    const height = isBounded ? stage.clientHeight - unfold.offsetHeight : Infinity;
    return {width: parseFloat(getComputedStyle(stage).maxWidth) || stage.clientWidth, height};
  }

  async function toggle() {
    const opens = unfold.ariaExpanded !== 'true';
    unfold.ariaExpanded = String(opens);
    const above = figure.offsetHeight;
    await lay();
    stage.scrollTop = opens ? above : 0;
  }

  async function lay() {
    const {width, height} = size();
    if (!file || !width) return;
    room = `${width} ${height}`;
    const closed = file.windows.map(folded);
    const best = fitted(closed, width, height);
    const window = unfold.ariaExpanded === 'true' ? file.windows[closed.indexOf(best)] : best;
    const {data, layout} = stretched(faded(window, fading.mix()), width, height, getComputedStyle(stage).fontFamily);
    const isFirst = !figure.data;
    await drawFigure(library, figure, data, layout);
    stage.style.setProperty('--drawn', `${layout.width}px`);
    presses.show(window, layout);
    fading.place(window, layout);
    if (stage.scrollHeight > stage.clientHeight)
      stage.tabIndex = 0; // so that it scrolls by keyboard too
    else stage.removeAttribute('tabindex');
    if (isFirst) figure.on('plotly_click', ({points: [point]}) => pressed(point));
  }

  // A finger does not leave a tapped mark: the next tap elsewhere hides its numbers.
  document.addEventListener('pointerdown', ({target}) => {
    if (figure.data && !figure.contains(/** @type {Node} */ (target))) library.Fx.unhover(figure);
  });

  new ResizeObserver(() => {
    const {width, height} = size();
    cancelAnimationFrame(waiting);
    if (`${width} ${height}` !== room) waiting = requestAnimationFrame(lay);
  }).observe(stage.parentElement);

  return {
    /**
     * @param {{url: string}} wanted the layouts of a figure
     * @returns {Promise<boolean>} true where a new figure was drawn; false for the same or an outdated one
     */
    async draw(wanted) {
      wantedUrl = wanted.url;
      if (wanted.url === shownUrl) return false;
      const [Plotly, next] = await Promise.all([plotly(), fetch(wanted.url).then((answer) => answer.json())]);
      if (wantedUrl !== wanted.url) return false;
      shownUrl = wanted.url;
      library = Plotly;
      file = put(next);
      const {fold, name} = file.windows[0].layout.meta ?? {};
      unfold.hidden = !fold;
      setText(unfold, name ?? '');
      await lay();
      return true;
    },
    /** Ignores figures that are still loading. */
    forget() {
      wantedUrl = '';
    },
    /** @returns {Promise<Blob> | null} PNG of the figure; null before the first */
    picture() {
      if (!library) return null;
      const {width, height} = file.slide.layout;
      return library
        .toImage(file.slide, {format: 'png', scale: 1, width, height})
        .then((url) => fetch(url))
        .then((answer) => answer.blob());
    },
    /** @param {string} format svg, png2 or png4 @param {string} filename without its ending */
    save(format, filename) {
      const {width, height} = file.slide.layout;
      const scale = {png2: 2, png4: 4}[format] ?? 1;
      library?.downloadImage(file.slide, {format: format.slice(0, 3), scale, width, height, filename});
    },
  };
}
