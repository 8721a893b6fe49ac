import {spawn} from 'node:child_process';
import {lstat} from 'node:fs/promises';
import {BridgeError} from '../errors.js';

/**
 * Takes the lock of the kind that ATM 0.x takes, with the help of flock(1), since Node has none. Where ATM has never left
 * its file, or there is no such program, nothing is taken: what is written is compared with what was read in any case.
 */
export async function flock(path: string, withinMs: number): Promise<() => void> {
	const found = await lstat(path).catch(() => undefined);
	if (!found?.isFile()) return () => {};
	const child = spawn('flock', ['-x', '-w', String(withinMs / 1000), path, 'cat'], {
		stdio: ['pipe', 'pipe', 'ignore'],
	});
	return new Promise((resolve, reject) => {
		// It holds the lock from its first word on until its input ends, also if this process is killed.
		child.stdin.on('error', () => {}).write('\n');
		child.stdout.once('data', () => resolve(() => child.stdin.end()));
		child.once('error', () => resolve(() => {}));
		child.once('exit', code => (code === 1 ? reject(tooLong(path, withinMs)) : resolve(() => {})));
	});
}

const tooLong = (path: string, ms: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Another program has held the lock ${path} for ${ms / 1000} s.`,
		'Try again, or look which one it is: lsof FILE',
		{path},
	);
