// Scrolling that shows where something went; instant with reduced motion.

export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * Scrolls an element into the window: smoothly, or at once with reduced motion.
 *
 * @param {Element} element
 * @param {ScrollLogicalPosition} block
 */
export function bring(element, block) {
  element.scrollIntoView({block, behavior: isStill() ? 'auto' : 'smooth'});
}
