// A plotly figure: drawn by plotly.js, which is fetched with the first one, made as large as there is room, and saved.

import {plotly} from '../kit/plotly.js';

/**
 * @param {HTMLElement} stage as wide as there is room
 * @param {any} figure an element in it, which plotly makes its own
 * @param {(point: any) => void} clicked
 */
export function drawing(stage, figure, clicked) {
  let library = null, drawn = null, shownUrl = '', wantedUrl = '';

  function scale() {
    if (!drawn) return;
    const {width, height} = drawn.layout, isBounded = getComputedStyle(stage).getPropertyValue('--bounded');
    const factor = Math.min(1, stage.clientWidth / width, ...(isBounded ? [stage.clientHeight / height] : []));
    figure.style.transform = `scale(${factor})`;
    figure.style.marginBottom = `${Math.ceil(height * factor - height)}px`;
  }

  new ResizeObserver(scale).observe(stage);
  return {
    /**
     * @param {{url: string}} file plotly JSON
     * @param {{url: string}} script plotly.js
     * @returns {Promise<boolean>} whether another figure is there now: neither the same nor one that came too late
     */
    async draw(file, script) {
      wantedUrl = file.url;
      if (file.url === shownUrl) return false;
      const [Plotly, next] = await Promise.all([plotly(script.url), fetch(file.url).then((answer) => answer.json())]);
      if (wantedUrl !== file.url) return false;
      shownUrl = file.url;
      library = Plotly;
      drawn = next;
      figure.style.width = `${next.layout.width}px`;
      const isFirst = !figure.data;
      await Plotly.react(figure, next.data, next.layout, {displayModeBar: false, responsive: false});
      if (isFirst) figure.on('plotly_click', ({points: [point]}) => clicked(point));
      scale();
      return true;
    },
    /** Nothing that is still under way is wanted any more. */
    forget() { wantedUrl = ''; },
    save(format, factor, filename) {
      const {width, height} = drawn.layout;
      library?.downloadImage(figure, {format, scale: factor, width, height, filename});
    },
  };
}
