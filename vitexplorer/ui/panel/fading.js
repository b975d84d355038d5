// Controls over a stack of maps in one place: their difference, or a mix of the left and the right one, which a person
// slides or which goes back and forth between the two.

import {make, setText} from '../kit/dom.js';
import {grow} from '../kit/motion.js';

const BLINK = 900; // ms

/**
 * Shows a mix of the layers 1 and 2 in place of layer 0, with their colour scale beside it.
 *
 * @param {import('./fitting.js').Drawn} drawn
 * @param {number | null} mix share of layer 2, 0-1; null shows layer 0
 * @returns {import('./fitting.js').Drawn}
 */
export function faded({data, layout}, mix) {
  if (mix === null || !layout.meta?.fade) return {data, layout};
  const shares = [0, 1 - mix, mix];
  const layers = data.map((trace) => {
    const share = shares[trace.meta?.layer];
    return share === undefined ? trace : {...trace, visible: share > 0, opacity: share};
  });
  const {coloraxis: large, coloraxis2: small} = layout;
  const {x, y, len} = large.colorbar;
  return {data: layers, layout: {...layout, coloraxis: {...small, colorbar: {...small.colorbar, x, y, len}}}};
}

/**
 * @param {HTMLElement} stage element with the figure in its upper left corner
 * @param {() => void} changed
 */
export function newFading(stage, changed) {
  let mix = /** @type {number | null} */ (null);
  let timer = 0;
  let endMotion = () => {};
  const first = make('button.toggle.first', {onclick: () => set(null)});
  const [left, right] = [make('span'), make('span')];
  const slider = make('input', {type: 'range', min: '0', max: '100', oninput: () => set(Number(slider.value) / 100)});
  const blink = make('button.toggle.blink', {ariaPressed: 'false', onclick: toggle});
  const bar = make('div.fading', {role: 'group', hidden: true}, first, make('label', left, slider, right), blink);
  stage.append(bar);

  function show(share) {
    mix = share;
    first.ariaPressed = String(share === null);
    slider.value = String(100 * (share ?? 0.5));
    changed();
  }

  function stop() {
    clearInterval(timer);
    endMotion();
    timer = 0;
    blink.ariaPressed = 'false';
  }

  function set(share) {
    stop();
    show(share);
  }

  function toggle() {
    if (timer) return set(null);
    timer = setInterval(() => (bar.isConnected && !bar.hidden ? blendOver() : stop()), BLINK);
    blink.ariaPressed = 'true';
    show(0);
  }

  /** Lets the left map become the right one, or the right one the left. */
  function blendOver() {
    const isLeft = mix === 0;
    endMotion = grow((share) => show(isLeft ? share : 1 - share));
  }

  return {
    mix: () => mix,
    set,
    /**
     * @param {import('./fitting.js').Drawn} drawn layout from Python
     * @param {{width: number, height: number}} size of the figure on the screen
     */
    place({layout}, {width, height}) {
      const fade = layout.meta?.fade;
      bar.hidden = !fade;
      if (!fade) return;
      const [x, y, wide, high] = fade.box;
      const [across, down] = [width / layout.width, height / layout.height];
      const pixels = {left: x * across, top: y * down, width: wide * across, height: high * down};
      for (const [name, value] of Object.entries(pixels)) bar.style[name] = `${value}px`;
      [first, left, right, blink].forEach((part, at) => setText(part, fade.names[at]));
      first.ariaPressed = String(mix === null);
      slider.setAttribute('aria-label', `${fade.names[1]} - ${fade.names[2]}`);
    },
  };
}
