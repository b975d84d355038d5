// Selection of the room's canvas in the address.

import {displayParameters, writeSelection} from '../../canvas/sharing.js';

writeSelection('vx-attention-canvas', (selection) => {
  const {block, head, query} = selection;
  return {block, head, query, ...displayParameters(selection)};
});
