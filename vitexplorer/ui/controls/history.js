// Undo and redo: the states that were, the one that is, and those that were taken back.

/** States kept; beyond that the oldest is forgotten. */
export const MOST = 100;

/**
 * @template State
 * @param {State} first
 */
export function history(first) {
  /** @type {State[]} */
  let before = [];
  /** @type {State[]} */
  let after = [];
  let now = first;

  return {
    now: () => now,
    canUndo: () => before.length > 0,
    canRedo: () => after.length > 0,

    /** @param {State} state what a person made of it: can be taken back, and nothing is left to redo */
    take(state) {
      before = [...before, now].slice(-MOST);
      after = [];
      now = state;
    },

    /** @param {State} state what it is by somebody else's hand, with the same past and future */
    correct(state) { now = state; },

    /** @param {State} state where a new history begins */
    restart(state) {
      [before, after] = [[], []];
      now = state;
    },

    undo() {
      if (!before.length) return now;
      after = [...after, now];
      now = before[before.length - 1];
      before = before.slice(0, -1);
      return now;
    },

    redo() {
      if (!after.length) return now;
      before = [...before, now];
      now = after[after.length - 1];
      after = after.slice(0, -1);
      return now;
    },
  };
}
