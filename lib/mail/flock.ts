import {lstat} from 'node:fs/promises';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {child} from '../transports/child.js';

/**
 * Takes the lock of the kind that ATM 0.x takes, with the help of flock(1), since Node has none. Where ATM has never left
 * its file, or there is no such program, nothing is taken: what is written is compared with what was read in any case.
 */
export async function flock(path: string, withinMs: number): Promise<() => Promise<void>> {
	const found = await lstat(path).catch(() => undefined);
	if (!found?.isFile()) return async () => {};
	// It holds the lock from when it says something back until its input ends, also if this process is killed.
	const args = ['-x', '-w', String(withinMs / 1000), path, 'cat'];
	const helper = child({name: 'flock', command: 'flock', args, onStderr: () => {}});
	const failure = await new Promise<unknown>(resolve => {
		helper.incoming.subscribe({
			next: () => resolve(undefined),
			error: resolve,
			complete: () => resolve('over'),
		});
		helper.outgoing.next(Envelope.of({jsonrpc: '2.0', method: 'held'}));
	});
	if (failure === undefined)
		return async () => {
			await helper.close();
		};
	if (failure instanceof BridgeError && failure.details.exitCode === 1) throw tooLong(path, withinMs);
	return async () => {};
}

const tooLong = (path: string, ms: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Another program has held the lock ${path} for ${ms / 1000} s.`,
		'Try again once it is done.',
		{path},
	);
