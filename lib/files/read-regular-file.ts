import {isUtf8} from 'node:buffer';
import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {secureOpenFile, UnsafeFileError} from './secure-file.js';

/** Why a file is not read although it is there. */
export class FileRejectedError extends Error {
	override readonly name = 'FileRejectedError';
}

type ReadRegularFileOptions = {
	/** Whether only bridge writes it. Then it must belong to this user, and its mode becomes 0600. */
	readonly isOwn?: boolean;
};

/**
 * All of a file; undefined where there is none. What is a link, a pipe or a device, or longer than it may be, is refused:
 * somebody else may have put it there.
 */
export async function readRegularFile(
	path: string,
	maxBytes: number,
	{isOwn = false}: ReadRegularFileOptions = {},
): Promise<Buffer | undefined> {
	const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
	const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return;
		if (error.code === 'ELOOP' || error.code === 'EMLINK') throw new FileRejectedError('it is a link');
		if (error.code === 'ENXIO') throw new FileRejectedError('it is no file');
		throw error;
	});
	if (!handle) return;
	try {
		const stats = await handle.stat();
		if (!stats.isFile()) throw new FileRejectedError('it is no file');
		if (isOwn) secureOrReject(handle.fd, path);
		if (stats.size > maxBytes) throw new FileRejectedError(`it is longer than ${maxBytes} bytes`);
		return await handle.readFile();
	} finally {
		await handle.close();
	}
}

function secureOrReject(fd: number, path: string): void {
	try {
		secureOpenFile(fd, path);
	} catch (error) {
		throw error instanceof UnsafeFileError ? new FileRejectedError(error.message) : error;
	}
}

/** The same as text; what is not UTF-8 is refused. */
export async function readRegularTextFile(
	path: string,
	maxBytes: number,
	options?: ReadRegularFileOptions,
): Promise<string | undefined> {
	const bytes = await readRegularFile(path, maxBytes, options);
	if (bytes === undefined) return;
	if (!isUtf8(bytes)) throw new FileRejectedError('it is not written in UTF-8');
	return bytes.toString();
}
