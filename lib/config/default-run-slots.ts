import {availableParallelism} from 'node:os';

const MIN_SLOTS = 4;

/** Programs that may use an interpreter at once, unless an option sets another number. */
export const defaultRunSlots = (): number => Math.max(MIN_SLOTS, availableParallelism());
