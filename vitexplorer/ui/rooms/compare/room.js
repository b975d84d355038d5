// Selections of the room's canvases in the address.

import {pairParameters, writeSelection} from '../../canvas/sharing.js';

writeSelection('vx-left-canvas', pairParameters);
writeSelection('vx-right-canvas', ({block}) => ({other_block: block}));
