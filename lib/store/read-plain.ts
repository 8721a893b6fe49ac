import {isUtf8} from 'node:buffer';
import {constants} from 'node:fs';
import {open} from 'node:fs/promises';

/** Why a file is not read although it is there. */
export class NotPlain extends Error {
	override readonly name = 'NotPlain';
}

/**
 * All of a file; undefined where there is none. What is a link, a pipe or a device, or longer than it may be, is refused:
 * somebody else may have put it there.
 */
export async function readPlain(path: string, maxBytes: number): Promise<Buffer | undefined> {
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
		if (found.size > maxBytes) throw new NotPlain(`it is longer than ${maxBytes} bytes`);
		return await handle.readFile();
	} finally {
		await handle.close();
	}
}

/** The same as text; what is not UTF-8 is refused. */
export async function readPlainText(path: string, maxBytes: number): Promise<string | undefined> {
	const bytes = await readPlain(path, maxBytes);
	if (bytes === undefined) return;
	if (!isUtf8(bytes)) throw new NotPlain('it is not written in UTF-8');
	return bytes.toString();
}
