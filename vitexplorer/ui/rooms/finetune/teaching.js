// What the browser asks while somebody teaches, one question at a time, and what it does not ask for nothing.

import {inAddress} from '../../kit/address.js';
import {browserName} from '../../shell/visitor.js';

const KIND = 'application/octet-stream';  // which no page of a stranger may send here without asking first

/**
 * @typedef {{refused?: string} & Record<string, any>} Answer
 * @param {string} what the last part of the address
 * @param {Record<string, string>} parameters
 * @param {Blob} [picture]
 * @returns {Promise<Response | null>} null where nothing came
 */
export async function asked(what, parameters, picture) {
  const query = new URLSearchParams({lang: inAddress('lang') || document.documentElement.lang, ...parameters});
  try {
    return await fetch(new URL(`./teach/${what}?${query}`, document.baseURI), {
      method: 'POST', headers: {'Content-Type': KIND, 'X-Visitor': browserName()}, body: picture ?? null,
    });
  } catch {
    return null;
  }
}

/**
 * What is to be done, one thing after the other: the examples first, then what was asked last.
 *
 * @param {object} does
 * @param {() => Promise<boolean>} does.learn whether there is more to look at
 * @param {() => Promise<void>} does.score
 * @param {() => Promise<boolean>} does.ask whether there is more to ask
 * @param {() => boolean} does.isSeen nothing is done for who does not look
 * @param {number} settled milliseconds without a new example after which it is told how good they are
 */
export function turns({learn, score, ask, isSeen}, settled) {
  let busy = false, toLearn = false, toAsk = false, timer = 0;

  async function next() {
    if (busy || !isSeen()) return;
    busy = true;
    try {
      while (isSeen() && (toLearn || toAsk)) {
        if (toLearn) {
          toLearn = false;
          toLearn = await learn() || toLearn;
        } else {
          toAsk = false;
          toAsk = await ask() || toAsk;
        }
      }
    } finally {
      busy = false;
    }
  }

  return {
    next,
    /** There are other examples. */
    taught() {
      toLearn = toAsk = true;
      clearTimeout(timer);
      timer = setTimeout(score, settled);
      next();
    },
    /** There is another question. */
    asks() {
      toAsk = true;
      next();
    },
  };
}
