import {readdir, stat} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describeForeignWriters} from '../files/secure-file.js';

/** Limits of the files that are checked in a folder and of the warnings that are listed. */
const MAX_FILES = 1000;
const MAX_WARNINGS = 5;

/** Returns warnings about a configuration and packs that other users can write. Both run code as this user. */
export async function writableFileWarnings(
	file: string,
	writers: string | undefined,
	packs: string | undefined,
): Promise<string[]> {
	const folder = dirname(file);
	const reasons = [
		...(writers === undefined ? [] : [writableWarning(file, writers)]),
		...((await isWorldWritable(folder))
			? [writableWarning(folder, 'all users can replace files in it')]
			: []),
		...(packs === undefined ? [] : await writablePackWarnings(packs)),
	];
	const unlisted = reasons.length - MAX_WARNINGS;
	return unlisted > 0
		? [
				...reasons.slice(0, MAX_WARNINGS),
				`Other users can write ${unlisted} more files, which are not listed.`,
			]
		: reasons;
}

const writableWarning = (path: string, writers: string): string =>
	`${path}: ${writers}, so other users can run programs as you. Make sure that you own it, and run: chmod go-w ${path}`;

async function isWorldWritable(folder: string): Promise<boolean> {
	const found = await stat(folder).catch(() => undefined);
	return found !== undefined && process.platform !== 'win32' && (found.mode & 0o1002) === 0o002;
}

async function writablePackWarnings(folder: string): Promise<string[]> {
	const names = await readdir(folder).catch(() => []);
	const paths = [folder, ...names.slice(0, MAX_FILES).map(name => join(folder, name))];
	const found = await Promise.all(
		paths.map(async path => {
			const rights = await stat(path).catch(() => undefined);
			const writers = rights && describeForeignWriters(rights);
			return writers === undefined ? [] : [writableWarning(path, writers)];
		}),
	);
	return found.flat();
}
