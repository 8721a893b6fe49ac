import {availableParallelism} from 'node:os';

const MIN_SLOTS = 4;

/** The default number of programs that may use an interpreter concurrently. */
export const defaultRunSlots = (): number => Math.max(MIN_SLOTS, availableParallelism());
