// Undo and redo: past states, the current one, and undone states.

/** Most past states; the oldest is dropped. */
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

    /** @param {State} state change by a person, which can be undone and clears the redo list */
    take(state) {
      before = [...before, now].slice(-MOST);
      after = [];
      now = state;
    },

    /** @param {State} state correction of the current state, with the same past and future */
    correct(state) {
      now = state;
    },

    /** @param {State} state start of a new history */
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
