// Selection of the room's canvas in the address; default settings are left out.

import {parametersOf, shareSelection} from '../../canvas/sharing.js';

const other = (value, first) => (value === first ? '' : value);

shareSelection(
  'vx-flow-canvas',
  (selection) => {
    const {block: start, head, ...parameters} = parametersOf(selection);
    const {head_fusion: fusion, discard_ratio: discard} = selection.settings;
    return {...parameters, fusion: other(fusion, 'mean'), discard: other(discard, '0'), start: start || ''};
  },
  ['query'],
);
