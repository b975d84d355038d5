// Next step of a person who teaches: the one button that stands out.

/**
 * @typedef {'fill' | 'add' | 'live' | 'compare'} Step
 * @param {number} filled classes with pictures
 * @param {boolean} isAnswered true once the probe has answered about a picture
 * @returns {Step} `fill` draws examples, `add` fills the next class, `live` asks, `compare` leads to the methods
 */
export function nextStep(filled, isAnswered) {
  if (!filled) return 'fill';
  if (filled < 2) return 'add';
  return isAnswered ? 'compare' : 'live';
}
