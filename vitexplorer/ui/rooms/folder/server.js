// Requests of the room Folder to the server.

import {post} from '../../kit/sending.js';

/**
 * @param {string} what last part of the address
 * @param {Record<string, string>} [parameters]
 * @returns {Promise<any>} the answer, with `refused` for an error; null where the server did not answer
 */
export async function ask(what, parameters = {}) {
  try {
    return await (await post(`survey/${what}`, parameters)).json();
  } catch {
    return null;
  }
}

/**
 * Requests a file.
 *
 * @param {string} what
 * @param {Record<string, string>} parameters
 * @returns {Promise<any>} `file`, or `refused` for an error; null where the server did not answer
 */
export async function askFile(what, parameters) {
  try {
    const answer = await post(`survey/${what}`, parameters);
    return answer.ok ? {file: await answer.blob()} : await answer.json();
  } catch {
    return null;
  }
}

/**
 * Repeated requests: one at a time, and of the waiting ones only the latest.
 *
 * @param {(answer: any, parameters: any) => void} take called with each answer
 */
export function latest(take) {
  let busy = false;
  let next = /** @type {[string, any] | null} */ (null);

  async function run() {
    busy = true;
    while (next) {
      const [what, parameters] = next;
      next = null;
      const answer = await ask(what, parameters);
      if (!next) take(answer, parameters);
    }
    busy = false;
  }

  return {
    /** @param {string} what @param {Record<string, string>} parameters */
    ask(what, parameters) {
      next = [what, parameters];
      if (!busy) run();
    },
    /** Ignores answers that are still to come. */
    forget() {
      next = null;
    },
  };
}
