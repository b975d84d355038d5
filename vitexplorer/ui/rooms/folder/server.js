// Requests of the room Folder to the server.

import {inAddress} from '../../kit/address.js';
import {browserName} from '../../shell/visitor.js';

const KIND = 'application/octet-stream';  // another site's page may send it only after a CORS preflight

/**
 * @param {string} what last part of the address
 * @param {Record<string, string>} [asked]
 * @returns {Promise<any>} the answer, with `refused` for an error; null where the server did not answer
 */
export async function ask(what, asked = {}) {
  try {
    const answer = await answerTo(what, asked);
    return await answer.json();
  } catch {
    return null;
  }
}

/**
 * Requests a file.
 *
 * @param {string} what
 * @param {Record<string, string>} asked
 * @returns {Promise<any>} `file`, or `refused` for an error; null where the server did not answer
 */
export async function askFile(what, asked) {
  try {
    const answer = await answerTo(what, asked);
    return answer.ok ? {file: await answer.blob()} : await answer.json();
  } catch {
    return null;
  }
}

function answerTo(what, asked) {
  const query = new URLSearchParams({lang: inAddress('lang') || document.documentElement.lang, ...asked});
  return fetch(new URL(`./survey/${what}?${query}`, document.baseURI), {
    method: 'POST', headers: {'Content-Type': KIND, 'X-Visitor': browserName()},
  });
}

/**
 * Repeated requests: one at a time, and of the waiting ones only the latest.
 *
 * @param {(answer: any, asked: any) => void} take called with each answer
 */
export function latest(take) {
  let busy = false, next = /** @type {[string, any] | null} */ (null);

  async function run() {
    busy = true;
    while (next) {
      const [what, asked] = next;
      next = null;
      const answer = await ask(what, asked);
      if (!next) take(answer, asked);
    }
    busy = false;
  }

  return {
    /** @param {string} what @param {Record<string, string>} asked */
    ask(what, asked) {
      next = [what, asked];
      if (!busy) run();
    },
    /** Ignores answers that are still to come. */
    forget() { next = null; },
  };
}
