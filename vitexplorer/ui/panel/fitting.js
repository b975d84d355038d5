// Choice of the layout that fits an area, and its stretching to the area. Pure functions on plotly's data.

/** @typedef {{data: any[], layout: {width: number, height: number} & Record<string, any>}} Drawn */

/** Least width of a figure as a share of its layout's; letters keep their size, so they come closer together. */
const LEAST = 0.94;

/**
 * Puts the shared strings and colour tables of a file back in their places.
 *
 * @param {{windows: any[], slide: any, shared: (string | [number, string][])[]}} file
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

/** Least share of the area's width that a sheet must fill to be shown whole; otherwise a wider one is scrolled. */
const LOST = 0.6;

/**
 * Width that a layout was made for; the layout is narrower where its drawings leave the rest empty.
 *
 * @param {Drawn['layout']} layout
 */
const sheetOf = ({width, meta}) => meta?.sheet ?? width;

/**
 * Returns the widest layout that fits in width and height and is not too narrow, else the widest that fits in width,
 * else the narrowest.
 *
 * @param {Drawn[]} windows from the smallest on
 * @param {number} width
 * @param {number} height Infinity where there is no bound
 */
export function fitted(windows, width, height) {
  const wide = windows.filter(({layout}) => width / layout.width >= LEAST);
  const whole = wide.filter(({layout}) => height / layout.height >= LEAST && sheetOf(layout) >= LOST * width);
  return whole[whole.length - 1] ?? wide[wide.length - 1] ?? windows[0];
}

/**
 * Returns what a layout shows above its fold, and the whole layout where it has none.
 *
 * @param {Drawn} drawn
 * @returns {Drawn}
 */
export function folded({data, layout}) {
  const {fold, above} = layout.meta ?? {};
  if (!fold) return {data, layout};
  const scales = colorAxes(layout).map(([name, {colorbar, ...axis}]) => {
    const y = 1 - ((1 - colorbar.y) * layout.height) / fold; // in shares of the height, from below
    const x = (colorbar.x * layout.width) / above;
    return [name, {...axis, colorbar: {...colorbar, x, y}}];
  });
  const xaxis = {...layout.xaxis, range: [0, above]};
  const yaxis = {...layout.yaxis, range: [-fold, 0]};
  return {data, layout: {...layout, ...Object.fromEntries(scales), xaxis, yaxis, width: above, height: fold}};
}

const colorAxes = (layout) => Object.entries(layout).filter(([name]) => name.startsWith('coloraxis'));

/**
 * Stretches the axes of a layout to the area; letters and lines keep their size. A layout that is too high is scrolled.
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
  const bars = colorAxes(layout).map(([name, axis]) => [
    name,
    {...axis, colorbar: {...axis.colorbar, len: axis.colorbar.len * factor}},
  ]);
  return {
    data,
    layout: {
      ...layout,
      ...Object.fromEntries(bars),
      width: Math.round(layout.width * factor),
      height: Math.round(layout.height * factor),
      paper_bgcolor: 'rgba(0,0,0,0)',
      plot_bgcolor: 'rgba(0,0,0,0)',
      font: {...layout.font, family},
    },
  };
}
