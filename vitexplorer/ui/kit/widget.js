// What every component's module is given, and the cure for stale questions.

/**
 * @typedef {object} Gradio
 * What `mount` is called with.
 * @property {HTMLElement} element the component's own part of the page, filled with its markup
 * @property {{value: any}} props `value` is the data that Python sent last; before the first
 *   it is null or empty, and no person reaches the component
 * @property {Trigger} trigger asks Python
 * @property {(name: string, callback: () => void) => void} watch calls back after new data: `watch('value', show)`
 * @property {(url: string) => Promise<ArrayBuffer>} [bytes] where there is no server: the files that the data name
 */

/** @typedef {(kind: string, data: object) => void} Trigger */

/**
 * Gradio asks a question that had to wait with the data of the one that it waited for. Every kind of question therefore
 * keeps one object of data, filled anew each time: what is sent at last is the latest.
 *
 * @param {Trigger} send gradio's own trigger
 * @param {string[]} events the kinds of questions that Python listens to; another one is a mistake
 * @returns {Trigger}
 */
export function latestOnly(send, events) {
  const latest = Object.fromEntries(events.map((kind) => [kind, {}]));
  return (kind, data) => {
    const kept = latest[kind];
    if (!kept) throw new Error(`This component has no event '${kind}', only ${events.join(', ') || 'none'}.`);
    for (const name of Object.keys(kept)) delete kept[name];
    send(kind, Object.assign(kept, data));
  };
}
