// Current step on the way from images to results.

/**
 * @typedef {object} Found states of the parts of the room
 * @property {string} [images] state of the report
 * @property {string} [training] state of the training
 * @property {number} runs number of finished runs
 */

/**
 * Returns the current step, counted from 0; earlier steps are done.
 *
 * @param {Found} found
 */
export function stepOf({images, training, runs}) {
  if (training === 'running') return 2;
  if (runs > 0) return 3;
  if (training && training !== 'empty') return 2; // stopped, or failed
  return images === 'ready' ? 1 : 0;
}
