import {lstat, mkdir, rename, rmdir, unlink, utimes} from 'node:fs/promises';
import {setTimeout as sleep} from 'node:timers/promises';
import {BridgeError} from '../../core/errors.js';
import {ownProcessIdentity, wasProcessRunningAt} from '../../files/process-identity.js';
import {readRegularTextFile} from '../../files/read-regular-file.js';
import {runExclusive} from '../../util/run-exclusive.js';
import {acquireFlock} from './flock.js';

/**
 * What is done under a lock takes milliseconds; whoever takes this long has been stopped. It is longer than it takes to know
 * the dead from the living, so that nobody gives up just before a lock is free.
 */
const LOCK_TIMEOUT_MS = 15_000;
/** A folder that nobody touches for so long was left by somebody dead: everybody who locks this way goes by that. */
const STALE_MS = 10_000;
const TOUCH_MS = 2000;
/** Others try ten times within 0.65 s and then drop their mail, so nobody here may be quicker than they are. */
const POLL_MS = 10;

/**
 * Does something while nobody else writes to this file: nobody in this process, no Claude Code (which makes a folder
 * `NAME.json.lock`), no ATM 1.x (a file of that name), and no ATM 0.x (`flock` on `NAME.lock`, where it has left that file).
 */
export const withFileLock = <T>(path: string, action: () => Promise<T>): Promise<T> =>
	runExclusive(path, async () => {
		// The one that may take long is waited for first: who waits for the other one drops mail.
		const unlock = await acquireFlock(path.replace(/\.json$/, '.lock'), LOCK_TIMEOUT_MS);
		try {
			const release = await acquireLockFolder(`${path}.lock`);
			try {
				return await action();
			} finally {
				await release();
			}
		} finally {
			unlock();
		}
	});

async function acquireLockFolder(path: string): Promise<() => Promise<void>> {
	const deadline = performance.now() + LOCK_TIMEOUT_MS;
	while (!(await tryMakeFolder(path))) {
		if (await removeIfStale(path)) continue;
		if (performance.now() > deadline) throw lockTimeoutError(path);
		await sleep(POLL_MS + Math.random() * POLL_MS);
	}
	const own = await lstat(path);
	const timer = setInterval(() => {
		const now = new Date();
		utimes(path, now, now).catch(() => {});
	}, TOUCH_MS).unref();
	return async () => {
		clearInterval(timer);
		const found = await lstat(path).catch(() => undefined);
		// If it is another's by now, somebody took this process for dead.
		if (found?.ino === own.ino) await rmdir(path).catch(() => {});
	};
}

async function tryMakeFolder(path: string): Promise<boolean> {
	try {
		await mkdir(path, {mode: 0o700});
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		return false;
	}
}

/** Removes what the dead left. */
async function removeIfStale(path: string): Promise<boolean> {
	const found = await lstat(path).catch(() => undefined);
	if (!found) return true;
	if (Date.now() - found.mtimeMs < STALE_MS) return false;
	if (!found.isDirectory())
		return (
			(await isOfDeadProcess(path)) &&
			unlink(path).then(
				() => true,
				() => false,
			)
		);
	const aside = `${path}.${ownProcessIdentity()}`;
	if (
		!(await rename(path, aside).then(
			() => true,
			() => false,
		))
	)
		return false;
	// Somebody else may have removed it meanwhile, and made their own.
	const isSameEntry = (await lstat(aside).catch(() => undefined))?.ino === found.ino;
	await (isSameEntry ? rmdir(aside) : rename(aside, path)).catch(() => {});
	return isSameEntry;
}

/** Whether the file names a process, and there is none of this number. */
async function isOfDeadProcess(path: string): Promise<boolean> {
	const text = await readRegularTextFile(path, 4096).catch(() => undefined);
	const pid = /\b\d{1,10}\b/.exec(text ?? '')?.[0];
	return pid !== undefined && !wasProcessRunningAt(Number(pid), new Date(Number.NaN));
}

const lockTimeoutError = (path: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Somebody has held the lock ${path} for ${LOCK_TIMEOUT_MS / 1000} s.`,
		'If no other program writes mail there, remove it.',
		{path},
	);
