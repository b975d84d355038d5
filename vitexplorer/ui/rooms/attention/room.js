// Selection of the room's canvas in the address.

import {parametersOf, shareSelection} from '../../canvas/sharing.js';

shareSelection('vx-attention-canvas', parametersOf);
