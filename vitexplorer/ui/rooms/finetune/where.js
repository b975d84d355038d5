// Where a person is on the way from images to results.

/**
 * @typedef {object} Found what the parts of the room say of themselves
 * @property {string} [images] state of the report
 * @property {string} [training] state of the training
 * @property {number} runs that are finished
 */

/**
 * The step that is on, counted from 0; those before it are done.
 *
 * @param {Found} found
 */
export function stepOf({images, training, runs}) {
  if (training === 'running') return 2;
  if (runs > 0) return 3;
  if (training && training !== 'empty') return 2;  // stopped, or failed
  return images === 'ready' ? 1 : 0;
}
