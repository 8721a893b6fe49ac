import {isUtf8} from 'node:buffer';
import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {secureOpenFile, UnsafeFileError} from './secure-file.js';

/** The reason why an existing file is not read. */
export class FileRejectedError extends Error {
	override readonly name = 'FileRejectedError';
}

type ReadRegularFileOptions = {
	/**
	 * Whether only bridge writes the file. Then it must belong to this user, and its mode is changed to 0600.
	 */
	readonly isOwn?: boolean;
};

/**
 * Returns the content of a file, or undefined if it does not exist. Rejects links, pipes, devices and files
 * over the limit, since another user may have created them.
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
		if (error.code === 'ENXIO') throw new FileRejectedError('it is not a regular file');
		throw error;
	});
	if (!handle) return;
	try {
		const stats = await handle.stat();
		if (!stats.isFile()) throw new FileRejectedError('it is not a regular file');
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

/** Returns the content of a file as text. Rejects a file that is not UTF-8. */
export async function readRegularTextFile(
	path: string,
	maxBytes: number,
	options?: ReadRegularFileOptions,
): Promise<string | undefined> {
	const bytes = await readRegularFile(path, maxBytes, options);
	if (bytes === undefined) return;
	if (!isUtf8(bytes)) throw new FileRejectedError('it is not valid UTF-8');
	return bytes.toString();
}
