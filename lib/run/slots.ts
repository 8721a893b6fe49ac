import {availableParallelism} from 'node:os';

const LEAST = 4;

/** Programs that may use an interpreter at once, unless an option sets another number. */
export const runSlots = (): number => Math.max(LEAST, availableParallelism());
