// What the room Folder asks of the server, each at an address of its own.

import {inAddress} from '../../kit/address.js';
import {browserName} from '../../shell/visitor.js';

const KIND = 'application/octet-stream';  // which no page of a stranger may send here without asking first

/**
 * @param {string} what the last part of the address
 * @param {Record<string, string>} [asked]
 * @returns {Promise<any>} what was answered, with `refused` where it is not possible; null where nothing came
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
 * The same as a file.
 *
 * @param {string} what
 * @param {Record<string, string>} asked
 * @returns {Promise<any>} `file`, or `refused` where it is not possible; null where nothing came
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
 * Answers to what is asked again and again: one at a time, and of those that wait the latest alone.
 *
 * @param {(answer: any, asked: any) => void} take what came last
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
    /** What is still to come is not wanted. */
    forget() { next = null; },
  };
}
