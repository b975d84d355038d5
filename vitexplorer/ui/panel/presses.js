// Buttons over the pressable marks of a figure, for keyboards and screen readers. Pointers pass through them to the
// figure, which shows the numbers under the mouse and handles presses itself.

import {make, refill} from '../kit/dom.js';

/**
 * @param {HTMLElement} stage element with the figure in its upper left corner
 * @param {(point: any) => void} clicked called like the figure's own click handler
 */
export function newPresses(stage, clicked) {
  const layer = make('div.presses');
  stage.append(layer);

  function button({meta}, {width, height}) {
    const [left, top, wide, high] = meta.box;
    const percent = (part, whole) => `${(100 * part) / whole}%`;
    return make('button', {
      ariaLabel: meta.name,
      onclick: () => clicked({data: {meta}}),
      style: {
        left: percent(left, width),
        top: percent(top, height),
        width: percent(wide, width),
        height: percent(high, height),
      },
    });
  }

  return {
    /**
     * @param {import('./fitting.js').Drawn} drawn layout from Python
     * @param {{width: number, height: number}} size of the figure on the screen
     */
    show({data, layout}, {width, height}) {
      Object.assign(layer.style, {width: `${width}px`, height: `${height}px`});
      refill(layer, ...data.filter(({meta}) => meta?.box).map((trace) => button(trace, layout)));
    },
  };
}
