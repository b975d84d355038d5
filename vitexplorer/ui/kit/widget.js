// Arguments of every component's module, and a fix for requests with stale data.

/**
 * Argument of `mount`, which returns the function that shows the latest data; it is called at once and after new data.
 *
 * @typedef {object} Gradio
 * @property {any} root the component's markup, an element
 * @property {(selector: string) => any} part returns an element of the markup
 * @property {{value: any}} props `value` is the latest data from Python; null or empty before the first data, while the
 *   component is inert
 * @property {Trigger} trigger sends an event to Python
 * @property {(url: string) => Promise<ArrayBuffer>} [bytes] reads the files that the data name, where there is no
 *   server
 */

/** @typedef {(kind: string, data: object) => void} Trigger */

/**
 * Makes a trigger that always sends the latest data. Gradio sends a delayed event with the data of the event that
 * delayed it. Therefore each kind of event has one object of data, which is overwritten each time.
 *
 * @param {Trigger} send gradio's own trigger
 * @param {string[]} events kinds of events to which Python listens; any other kind raises an error
 * @returns {Trigger}
 */
export function latestOnly(send, events) {
  const latest = Object.fromEntries(events.map((kind) => [kind, {}]));
  return (kind, data) => {
    const shared = latest[kind];
    if (!shared) throw new Error(`This component has no event '${kind}', only ${events.join(', ') || 'none'}.`);
    for (const name of Object.keys(shared)) delete shared[name];
    send(kind, Object.assign(shared, data));
  };
}
