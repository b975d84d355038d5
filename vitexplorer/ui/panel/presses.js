// What can be pressed in a figure, for the keyboard and for who does not see it: a button over each such mark. Pointers go
// through them to the figure, which tells the numbers under a mouse and is pressed itself.

import {make, refill} from '../kit/dom.js';

/**
 * @param {HTMLElement} stage the figure stands in its upper left corner
 * @param {(point: any) => void} clicked as the figure itself tells of a press
 */
export function newPresses(stage, clicked) {
  const layer = make('div', {className: 'presses'});
  stage.append(layer);

  function button({meta}, {width, height}) {
    const [left, top, wide, high] = meta.box, percent = (part, whole) => `${100 * part / whole}%`;
    return make('button', {
      type: 'button', ariaLabel: meta.name, onclick: () => clicked({data: {meta}}),
      style: {left: percent(left, width), top: percent(top, height), width: percent(wide, width), height: percent(high, height)},
    });
  }

  return {
    /**
     * @param {import('./fitting.js').Drawn} drawn as Python laid it out
     * @param {{width: number, height: number}} size of the figure on the screen
     */
    show({data, layout}, {width, height}) {
      Object.assign(layer.style, {width: `${width}px`, height: `${height}px`});
      refill(layer, ...data.filter(({meta}) => meta?.box).map((trace) => button(trace, layout)));
    },
  };
}
