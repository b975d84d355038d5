// Selections of the room's canvases in the address.

import {parametersOf, shareSelection} from '../../canvas/sharing.js';

shareSelection('vx-left-canvas', parametersOf);
shareSelection('vx-right-canvas', ({block}) => ({other_block: block}), []);
