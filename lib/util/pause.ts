import {setImmediate, setTimeout} from 'node:timers/promises';

/**
 * Waits so long, and then until all has been read that had come by then.
 *
 * After a pause of the whole process, because the machine was busy or asleep, timers come first: without this, whoever
 * waited for something would give up on what is already there.
 */
export async function pause(ms: number): Promise<void> {
	await setTimeout(ms, undefined, {ref: false});
	await setImmediate();
}
