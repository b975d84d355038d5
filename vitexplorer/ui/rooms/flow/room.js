// Selection of the room's canvas in the address; defaults are left out.

import {displayParameters, writeSelection} from '../../canvas/sharing.js';

const other = (value, first) => (value === first ? '' : value);

writeSelection('vx-flow-canvas', (selection) => {
  const {head_fusion: fusion, discard_ratio: discard, start_block: start} = selection.settings;
  return {
    source: other(selection.query, 'cls'),
    fusion: other(fusion, 'mean'),
    discard: other(discard, '0'),
    start: other(start, '0'),
    ...displayParameters(selection),
  };
});
