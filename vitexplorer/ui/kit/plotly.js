// plotly.js, fetched when the first figure is drawn, once for the page.

/** @type {Promise<any> | null} */
let loading = null;

/**
 * Loads the library; a failed attempt is repeated at the next call.
 *
 * @returns {Promise<any>} the object `Plotly`
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
 * Draws a figure, or replaces it by another. On a page with a <base>, such as gradio's, plotly.js prefixes the names of
 * gradients and clips with the page's address, and they break when the address changes. An empty figure comes first, so
 * that the prefix can be removed.
 *
 * @param {any} library
 * @param {any} figure element of the figure
 * @param {object[]} data
 * @param {object} layout
 */
export async function drawFigure(library, figure, data, layout) {
  if (!figure._context) {
    const empty = library.newPlot(figure, [], {}, {displayModeBar: false, responsive: false});
    figure._context._baseUrl = '';
    await empty;
  }
  await library.react(figure, data, layout); // with a configuration plotly would start over
}
