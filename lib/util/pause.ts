import {setImmediate, setTimeout} from 'node:timers/promises';

/**
 * Waits for a time, and then until pending input was processed.
 *
 * After the process was suspended, because the machine was busy or asleep, timers run before I/O. Without the
 * second wait, callers would time out although the awaited data has already arrived.
 */
export async function pause(ms: number): Promise<void> {
	await setTimeout(ms, undefined, {ref: false});
	await setImmediate();
}
