// Motion that says where something went, but for those who ask for less of it.

export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * Brings an element into the window: by a glide that shows the way, or at once.
 *
 * @param {Element} element
 * @param {ScrollLogicalPosition} block
 */
export function bring(element, block) {
  element.scrollIntoView({block, behavior: isStill() ? 'auto' : 'smooth'});
}
