import {lstat} from 'node:fs/promises';
import {BridgeError} from '../../core/errors.js';
import {startHelper} from '../../transports/process/child.js';

/** The exit code of flock(1) after a timeout. */
const EXIT_TIMED_OUT = 1;

/**
 * Acquires the kind of lock that ATM 0.x uses, with flock(1), since Node has no API for it. Acquires nothing
 * if the lock file of ATM or the program does not exist. That is safe, because each write is compared with
 * the content read before.
 */
export async function acquireFlock(path: string, timeoutMs: number): Promise<() => void> {
	const found = await lstat(path).catch(() => undefined);
	if (!found?.isFile()) return () => {};
	// The helper holds the lock from its first output until its stdin ends, which also happens if this process
	// is killed.
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
		'Try again when that program is done.',
		{path},
	);
