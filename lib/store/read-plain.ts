import {isUtf8} from 'node:buffer';
import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {secure, UnsafeFile} from './own-file.js';

/** Why a file is not read although it is there. */
export class NotPlain extends Error {
	override readonly name = 'NotPlain';
}

export type ReadOptions = {
	/** Whether only bridge writes it. Then it must belong to this user, and its mode becomes 0600. */
	readonly isOwn?: boolean;
};

/**
 * All of a file; undefined where there is none. What is a link, a pipe or a device, or longer than it may be, is refused:
 * somebody else may have put it there.
 */
export async function readPlain(
	path: string,
	maxBytes: number,
	{isOwn = false}: ReadOptions = {},
): Promise<Buffer | undefined> {
	const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
	const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return;
		if (error.code === 'ELOOP' || error.code === 'EMLINK') throw new NotPlain('it is a link');
		if (error.code === 'ENXIO') throw new NotPlain('it is no file');
		throw error;
	});
	if (!handle) return;
	try {
		const found = await handle.stat();
		if (!found.isFile()) throw new NotPlain('it is no file');
		if (isOwn) secured(handle.fd, path);
		if (found.size > maxBytes) throw new NotPlain(`it is longer than ${maxBytes} bytes`);
		return await handle.readFile();
	} finally {
		await handle.close();
	}
}

function secured(fd: number, path: string): void {
	try {
		secure(fd, path);
	} catch (error) {
		throw error instanceof UnsafeFile ? new NotPlain(error.message) : error;
	}
}

/** The same as text; what is not UTF-8 is refused. */
export async function readPlainText(
	path: string,
	maxBytes: number,
	options?: ReadOptions,
): Promise<string | undefined> {
	const bytes = await readPlain(path, maxBytes, options);
	if (bytes === undefined) return;
	if (!isUtf8(bytes)) throw new NotPlain('it is not written in UTF-8');
	return bytes.toString();
}
