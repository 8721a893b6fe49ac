import {lstat, mkdir, rename, rmdir, unlink, utimes} from 'node:fs/promises';
import {setTimeout as sleep} from 'node:timers/promises';
import {BridgeError} from '../../core/errors.js';
import {ownProcessIdentity, wasProcessRunningAt} from '../../files/process-identity.js';
import {readRegularTextFile} from '../../files/read-regular-file.js';
import {runExclusive} from '../../util/run-exclusive.js';
import {acquireFlock} from './flock.js';

/**
 * Time limit for acquiring a lock. Locked operations take milliseconds, so a longer wait means that the
 * holder was suspended. The limit exceeds `STALE_MS`, so that a stale lock is removed before the wait fails.
 */
const LOCK_TIMEOUT_MS = 15_000;
/**
 * Age after which a lock folder that was not touched is stale. All programs that use such locks share this
 * convention.
 */
const STALE_MS = 10_000;
const TOUCH_MS = 2000;
/**
 * Interval of attempts. Other programs drop their mail after ten attempts within 0.65 s, so bridge must not
 * starve them.
 */
const POLL_MS = 10;

/**
 * Runs an action while holding all locks of a file. They exclude other operations of this process, Claude
 * Code (a folder `NAME.json.lock`), ATM 1.x (a file of that name) and ATM 0.x (`flock` on `NAME.lock`, if
 * that file exists).
 */
export const withFileLock = <T>(path: string, action: () => Promise<T>): Promise<T> =>
	runExclusive(path, async () => {
		// The slower lock comes first: programs that wait for the lock folder drop mail soon.
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
		// Another inode means that another program considered this lock stale and replaced it.
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

/** Removes a lock of a process that has exited. Returns whether the lock is free. */
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
	// In the meantime, another program may have removed the stale lock and created its own.
	const isSameEntry = (await lstat(aside).catch(() => undefined))?.ino === found.ino;
	await (isSameEntry ? rmdir(aside) : rename(aside, path)).catch(() => {});
	return isSameEntry;
}

/** Whether the file contains a process id and no process with this id exists. */
async function isOfDeadProcess(path: string): Promise<boolean> {
	const text = await readRegularTextFile(path, 4096).catch(() => undefined);
	const pid = /\b\d{1,10}\b/.exec(text ?? '')?.[0];
	return pid !== undefined && !wasProcessRunningAt(Number(pid), new Date(Number.NaN));
}

const lockTimeoutError = (path: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Another program has held the lock ${path} for ${LOCK_TIMEOUT_MS / 1000} s.`,
		'If no other program writes mail there, remove the lock.',
		{path},
	);
