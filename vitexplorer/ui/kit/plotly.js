// plotly.js, fetched when the first figure is drawn, once for the page.

/** @type {Promise<any> | null} */
let loading = null;

/**
 * The library; asked for again where it did not arrive.
 *
 * @returns {Promise<any>} what plotly calls `Plotly`
 */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL(document.querySelector('[data-plotly]').dataset.plotly, document.baseURI).href;
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error('plotly.js did not load'));
    };
    document.head.append(script);
  });
  return loading;
}

/**
 * A figure, or another one in its place. On a page with a <base>, as gradio's is, plotly.js writes the page's whole
 * address before the names of gradients and clips, which are lost once that is another: hence an empty figure first.
 *
 * @param {any} library
 * @param {any} figure an element
 * @param {object[]} data
 * @param {object} layout
 */
export async function drawFigure(library, figure, data, layout) {
  if (!figure._context) {
    const empty = library.newPlot(figure, [], {}, {displayModeBar: false, responsive: false});
    figure._context._baseUrl = '';
    await empty;
  }
  await library.react(figure, data, layout);  // with a configuration it would begin anew
}
