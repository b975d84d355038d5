// Which layout of a figure fits a room, and the same layout stretched to it. Pure arithmetic on what plotly reads.

/** @typedef {{data: any[], layout: {width: number, height: number} & Record<string, any>}} Drawn */

/** How much narrower than its layout a figure may become: letters keep their size, so they come closer together. */
const LEAST = 0.94;

/**
 * A file as Python wrote it, with what its parts share put back in its places.
 *
 * @param {{windows: any[], slide: any, shared: string[]}} file
 * @returns {{windows: Drawn[], slide: Drawn}}
 */
export function put({windows, slide, shared}) {
  const fill = (thing) => {
    if (Array.isArray(thing)) return thing.map(fill);
    if (thing === null || typeof thing !== 'object') return thing;
    if (typeof thing.shared === 'number') return shared[thing.shared];
    return Object.fromEntries(Object.entries(thing).map(([name, value]) => [name, fill(value)]));
  };
  return {windows: fill(windows), slide: fill(slide)};
}

/** Below this part of the room's width a layout that is not too high looks lost: a wider one is scrolled instead. */
const LOST = 0.6;

/**
 * The widest layout that has room, in height too where a not much narrower one has; the narrowest where none has.
 *
 * @param {Drawn[]} windows from the smallest on
 * @param {number} width
 * @param {number} height Infinity where there is no bound
 */
export function fitted(windows, width, height) {
  const wide = windows.filter(({layout}) => width / layout.width >= LEAST);
  const whole = wide.filter(({layout}) => height / layout.height >= LEAST && layout.width >= LOST * width);
  return whole[whole.length - 1] ?? wide[wide.length - 1] ?? windows[0];
}

/**
 * A layout as large as the room: the axes are, letters and lines are not. What is too high keeps its size and is scrolled.
 *
 * @param {Drawn} drawn
 * @param {number} width
 * @param {number} height
 * @param {string} family of the letters
 * @returns {Drawn}
 */
export function stretched({data, layout}, width, height, family) {
  const most = Math.min(width / layout.width, height / layout.height);
  const factor = most >= LEAST ? most : Math.min(1, width / layout.width);
  const bars = Object.entries(layout).filter(([name]) => name.startsWith('coloraxis')).map(([name, axis]) => (
    [name, {...axis, colorbar: {...axis.colorbar, len: axis.colorbar.len * factor}}]));
  return {data, layout: {
    ...layout, ...Object.fromEntries(bars),
    width: Math.round(layout.width * factor), height: Math.round(layout.height * factor),
    paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', font: {...layout.font, family},
  }};
}
