// Requests of the teaching part, one at a time, without needless ones.

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
