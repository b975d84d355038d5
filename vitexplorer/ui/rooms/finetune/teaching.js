// Requests of the teaching part, one at a time, without needless ones.

import {inAddress} from '../../kit/address.js';
import {browserName} from '../../kit/sending.js';

const KIND = 'application/octet-stream'; // another site's page may send it only after a CORS preflight

/**
 * @typedef {{refused?: string} & Record<string, any>} Answer
 * @param {string} what last part of the address
 * @param {Record<string, string>} parameters
 * @param {Blob} [picture]
 * @returns {Promise<Response | null>} null where the server did not answer
 */
export async function asked(what, parameters, picture) {
  const query = new URLSearchParams({lang: inAddress('lang') || document.documentElement.lang, ...parameters});
  try {
    return await fetch(new URL(`./teach/${what}?${query}`, document.baseURI), {
      method: 'POST',
      headers: {'Content-Type': KIND, 'X-Visitor': browserName()},
      body: picture ?? null,
    });
  } catch {
    return null;
  }
}

/**
 * Runs the requests one after the other: examples first, then the latest question.
 *
 * @param {object} does
 * @param {() => Promise<boolean>} does.learn resolves to true while examples are left
 * @param {() => Promise<void>} does.score
 * @param {() => Promise<boolean>} does.ask resolves to true while there is more to ask
 * @param {() => boolean} does.isSeen false while the part is not visible: then nothing runs
 * @param {number} settled milliseconds without a new example before the examples are scored
 */
export function turns({learn, score, ask, isSeen}, settled) {
  let busy = false;
  let toLearn = false;
  let toAsk = false;
  let timer = 0;

  async function next() {
    if (busy || !isSeen()) return;
    busy = true;
    try {
      while (isSeen() && (toLearn || toAsk)) {
        if (toLearn) {
          toLearn = false;
          toLearn = (await learn()) || toLearn;
        } else {
          toAsk = false;
          toAsk = (await ask()) || toAsk;
        }
      }
    } finally {
      busy = false;
    }
  }

  return {
    next,
    /** Call after a change of the examples. */
    taught() {
      toLearn = toAsk = true;
      clearTimeout(timer);
      timer = setTimeout(score, settled);
      next();
    },
    /** Call after a new question. */
    asks() {
      toAsk = true;
      next();
    },
  };
}
