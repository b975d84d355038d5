// plotly.js, fetched when the first figure is drawn, once for the page.

/** @type {Promise<any> | null} */
let loading = null;

/**
 * The library; asked for again where it did not arrive.
 *
 * @param {string} url where Python serves it
 * @returns {Promise<any>} what plotly calls `Plotly`
 */
export function plotly(url) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error('plotly.js did not load'));
    };
    document.head.append(script);
  });
  return loading;
}
