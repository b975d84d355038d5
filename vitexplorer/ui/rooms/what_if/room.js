// Selection of the plain run's canvas in the address.

import {parametersOf, shareSelection} from '../../canvas/sharing.js';

shareSelection('vx-plain-canvas', parametersOf);
