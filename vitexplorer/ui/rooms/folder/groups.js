// Groups of alike images: each with its name, its count and its middle image; a click chooses its images.

import {filled, make, refill} from '../../kit/dom.js';
import {spaced} from '../../kit/formats.js';

export const GROUP = 'group'; // column of the conditions on groups, which is none of the survey's

/**
 * @typedef {{key: string, name: string, count: number, row: number}} Group
 * @typedef {import('./conditions.js').Condition} Condition
 */

/**
 * Names of the groups by their keys, as in the facts of a survey.
 *
 * @param {Group[]} groups
 */
export const namesOf = (groups) => Object.fromEntries(groups.map(({key, name}) => [key, name]));

/**
 * Key of the chosen group; empty for none.
 *
 * @param {Condition[]} where
 */
export function chosenGroup(where) {
  const found = where.find(({kind, column}) => kind === 'equals' && column === GROUP);
  return found?.kind === 'equals' ? found.value : '';
}

/**
 * @param {HTMLElement} root a list
 * @param {(condition: {kind: 'equals', column: string, value: string}, isChosen: boolean) => void} choose called with
 *   the pressed group, and true where it was chosen before
 */
export function groupStrip(root, choose) {
  /**
   * @param {Group[]} groups
   * @param {Condition[]} where
   * @param {string} pictureKey key of the survey's pictures
   * @param {Record<string, string>} words
   */
  return function show(groups, where, pictureKey, words) {
    const chosen = chosenGroup(where);
    const card = ({key, name, count, row}) => {
      const label = filled(words.group_label, {name, count: spaced(count)});
      const isChosen = key === chosen;
      return make(
        'li',
        make(
          'button.group',
          {
            title: label,
            ariaLabel: label,
            attributes: {'aria-pressed': String(isChosen)},
            dataset: {key},
            onclick: () => choose({kind: 'equals', column: GROUP, value: key}, isChosen),
          },
          make('img', {src: `./survey-pictures/${pictureKey}?${new URLSearchParams({row: String(row)})}`, alt: ''}),
          make('span', make('b', name), make('small', spaced(count))),
        ),
      );
    };
    root.hidden = !groups.length;
    root.setAttribute('aria-label', words.group_title);
    refill(root, ...groups.map(card));
  };
}
