import type {Stage} from '../lib/core/stage.js';
import type {ByteTap} from '../lib/traffic-log/record-bytes.js';

/** The bytes between a client and its target: recorded, and otherwise untouched. */
export const rawStages = (tap: ByteTap): Stage[] => [tap.stage];
