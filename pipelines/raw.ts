import type {Stage} from '../lib/core/stage.js';
import type {ByteTap} from '../lib/traffic-log/record-bytes.js';

/** The stages between a raw client and its target. They record the bytes and do not change them. */
export const rawStages = (tap: ByteTap): Stage[] => [tap.stage];
