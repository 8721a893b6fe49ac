import {lstat, open, opendir, realpath} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join, relative, resolve, sep} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../core/errors.js';
import {makeFolder} from '../files/make-folder.js';
import {checkFileNameFormat, logFileName, matchesFileNameFormat} from '../traffic-log/log-file-name.js';
import {nowMicroseconds} from '../util/clock.js';

/** Limit of entries in a log folder, since all of them are checked. */
const MAX_ENTRIES = 100_000;

const LOG_LINE = /^\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z",/;
const LOG_LINE_BYTES = 64;

/**
 * Rejects a destination that a client of the control server may not choose: one outside `root`, a file whose
 * name begins with a dot, a link in any part of the path, and an existing file that is not a traffic log.
 */
export async function checkLogDestination(
	folder: string,
	format: string,
	root: string | undefined,
): Promise<void> {
	checkFileNameFormat(format);
	const path = resolve(folder);
	if (root !== undefined) await checkInside(folder, await realPathOf(path), root);
	if (logFileName(format, nowMicroseconds()).startsWith('.'))
		throw destinationRejected(
			`filename_format ${format} names a file that begins with a dot`,
			'Use another filename_format.',
		);
	await checkLinks(path, root === undefined ? undefined : resolve(root));
	const stats = await lstat(path).catch(() => undefined);
	if (stats?.isDirectory()) await checkFiles(path, format);
}

export async function makeLogRootFolder(root: string): Promise<void> {
	try {
		await makeFolder(root);
	} catch (error) {
		const message = `${root} cannot be the folder for logs (--log-root): ${(error as Error).message}.`;
		throw new BridgeError('ERR_CONFIG_INVALID', message, 'Name a folder that exists or can be created.');
	}
}

async function checkInside(folder: string, real: string, root: string): Promise<void> {
	const relativePath = relative(await realPathOf(root), real);
	if (relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)) return;
	throw destinationRejected(`${folder} is not inside ${root} (--log-root)`, 'Name a folder inside it.');
}

/**
 * Rejects links in a path, except links of the system above the folder itself. The path of `root` was chosen
 * by the user that started bridge and is not checked.
 */
async function checkLinks(path: string, root: string | undefined): Promise<void> {
	for (let part = path; part !== dirname(part); part = dirname(part)) {
		const stats = await lstat(part).catch(() => undefined);
		if (stats?.isSymbolicLink() && (part === path || !isSystemLink(part, stats.uid)))
			throw destinationRejected(
				`${part} is a symbolic link`,
				`Name the folder itself: ${await realPathOf(path)}`,
			);
		if (dirname(part) === root || part === root) return;
	}
}

/**
 * Whether a link belongs to the system, like /tmp on macOS or /var/run. For root, that is true only in the
 * two folders that contain such links, since its own links belong to root as well.
 */
const isSystemLink = (link: string, uid: number): boolean => {
	const user = process.getuid?.();
	return uid === 0 && user !== undefined && (user !== 0 || dirname(link) === '/' || dirname(link) === '/var');
};

/** Resolves all links in a path, whose last parts need not exist. */
async function realPathOf(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch (error) {
		const parent = dirname(path);
		if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw uncheckable(path, error);
		if (await lstat(path).catch(() => undefined))
			throw destinationRejected(
				`${path} is a symbolic link whose target does not exist`,
				'Name another folder.',
			);
		return join(await realPathOf(parent), basename(path));
	}
}

/** Checks all existing files that the format may name, now or later. */
async function checkFiles(folder: string, format: string): Promise<void> {
	const entries = await opendir(folder).catch(error => Promise.reject(uncheckable(folder, error)));
	let count = 0;
	for await (const {name} of entries) {
		if (++count > MAX_ENTRIES)
			throw destinationRejected(`${folder} has more than ${MAX_ENTRIES} entries`, 'Name another folder.');
		if (matchesFileNameFormat(format, name)) await checkFile(join(folder, name));
	}
}

async function checkFile(file: string): Promise<void> {
	const stats = await lstat(file).catch(error => Promise.reject(uncheckable(file, error)));
	if (stats.isSymbolicLink())
		throw destinationRejected(`${file} is a symbolic link`, 'Remove it, or use another filename_format.');
	if (!stats.isFile())
		throw destinationRejected(`${file} is not a regular file`, 'Use another filename_format or folder.');
	if (stats.size > 0 && !LOG_LINE.test(await readStart(file)))
		throw destinationRejected(
			`${file} exists and is not a traffic log`,
			'Use another filename_format or folder.',
		);
}

async function readStart(file: string): Promise<string> {
	const handle = await open(file).catch(error => Promise.reject(uncheckable(file, error)));
	try {
		const {buffer, bytesRead} = await handle.read(Buffer.alloc(LOG_LINE_BYTES), 0, LOG_LINE_BYTES, 0);
		return buffer.toString('latin1', 0, bytesRead);
	} finally {
		await handle.close();
	}
}

const uncheckable = (path: string, error: unknown): BridgeError =>
	destinationRejected(`${path} cannot be checked: ${(error as Error).message}`, 'Name another folder.');

const destinationRejected = (reason: string, remedy: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`This destination of the traffic log is rejected: ${reason}.`,
		remedy,
	);
