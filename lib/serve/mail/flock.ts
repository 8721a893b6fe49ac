import {lstat} from 'node:fs/promises';
import {BridgeError} from '../../core/errors.js';
import {startHelper} from '../../transports/process/child.js';

/** What flock(1) says by its exit code when the time is over. */
const EXIT_TIMED_OUT = 1;

/**
 * Takes the lock of the kind that ATM 0.x takes, with the help of flock(1), since Node has none. Where ATM has never left
 * its file, or there is no such program, nothing is taken: what is written is compared with what was read in any case.
 */
export async function acquireFlock(path: string, timeoutMs: number): Promise<() => void> {
	const found = await lstat(path).catch(() => undefined);
	if (!found?.isFile()) return () => {};
	// It holds the lock from when it says something back until its input ends, also if this process is killed.
	const {firstOutput: first, stdin} = startHelper('flock', [
		'-x',
		'-w',
		String(timeoutMs / 1000),
		path,
		'cat',
	]);
	stdin.write('\n');
	const output = await first;
	if (output === EXIT_TIMED_OUT) throw flockTimeoutError(path, timeoutMs);
	return () => stdin.end();
}

const flockTimeoutError = (path: string, ms: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Another program has held the lock ${path} for ${ms / 1000} s.`,
		'Try again once it is done.',
		{path},
	);
