// Selection of the plain run's canvas in the address.

import {pairParameters, writeSelection} from '../../canvas/sharing.js';

writeSelection('vx-plain-canvas', pairParameters);
