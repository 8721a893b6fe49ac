import {createHash, type Hash} from 'node:crypto';
import {constants, type Stats} from 'node:fs';
import {open, readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {BridgeError} from '../core/errors.js';
import {describeForeignWriters} from '../files/secure-file.js';
import {printable} from '../util/printable.js';
import {shellQuote} from '../util/shell-quote.js';

/** The record of a packs folder that was trusted with `bridge trust`. */
export type TrustedPacks = {
	readonly sha256: string;
	/** The configuration file, for messages. */
	readonly file: string;
};

/** Limits of one folder including its subfolders. */
const MAX_FILES = 2000;
const MAX_BYTES = 64 * 2 ** 20;

type Budget = {files: number; bytes: number};

/**
 * The SHA-256 of the names and contents of all files below a folder. Rejects files that other users can
 * write. Follows links, as Node does when it loads a module. Excludes `.git`, which changes with every git
 * command: a clone cannot contain files there.
 */
export async function digestFolder(folder: string): Promise<string> {
	const hash = createHash('sha256');
	const found = await stat(folder).catch(() => undefined);
	if (found) rejectWritable(folder, found);
	await addFolder(hash, folder, '', {files: 0, bytes: 0});
	return hash.digest('hex');
}

async function addFolder(hash: Hash, root: string, subfolder: string, budget: Budget): Promise<void> {
	const names = await readdir(join(root, subfolder)).catch(() => undefined);
	if (!names) return addToHash(hash, subfolder, 'missing');
	for (const name of names.sort()) {
		if (name === '.git') continue;
		if (++budget.files > MAX_FILES) throw tooLargeError(root);
		const path = join(subfolder, name);
		const found = await stat(join(root, path)).catch(() => undefined);
		if (found) rejectWritable(join(root, path), found);
		if (found?.isDirectory()) {
			addToHash(hash, path, 'folder');
			await addFolder(hash, root, path, budget);
		} else addToHash(hash, path, found?.isFile() ? await digestFile(root, path, budget) : 'other');
	}
}

/** Rejects files that other users can write, and so replace between the check and the use. */
function rejectWritable(path: string, found: Stats): void {
	const writers = describeForeignWriters(found);
	if (writers !== undefined) throw writableByOthersError(path, writers);
}

/** Adds an entry as JSON, so that different folders never produce the same hash input. */
const addToHash = (hash: Hash, path: string, content: string): void =>
	void hash.update(`${JSON.stringify([path, content])}\n`);

async function digestFile(root: string, path: string, budget: Budget): Promise<string> {
	const handle = await open(join(root, path), constants.O_RDONLY | constants.O_NONBLOCK).catch(
		() => undefined,
	);
	if (!handle) return 'unreadable';
	const hash = createHash('sha256');
	try {
		for await (const chunk of handle.createReadStream({autoClose: false})) {
			budget.bytes += (chunk as Buffer).length;
			if (budget.bytes > MAX_BYTES) throw tooLargeError(root);
			hash.update(chunk as Buffer);
		}
	} catch (error) {
		// A link may lead to a system file that cannot be read.
		if (error instanceof BridgeError) throw error;
		return 'unreadable';
	} finally {
		await handle.close();
	}
	return hash.digest('hex');
}

/** The error for a file that runs code and that other users can write. */
export const writableByOthersError = (path: string, writers: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		printable(`${path} is not used: ${writers}, and its commands would run as you.`),
		`Make sure that you own it, and run: chmod go-w ${shellQuote(path)}`,
	);

const tooLargeError = (folder: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The packs folder ${folder} cannot be trusted: it contains more than ${MAX_FILES} files or more than ${MAX_BYTES / 2 ** 20} MiB.`,
		'Move the packs to a separate folder, or pass the configuration with --config, which requires no trust.',
	);
