import {constants, type Stats} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';

/** What a file was found to be that cannot be read as a text. */
export class NotPlain extends Error {
	override readonly name = 'NotPlain';
}

/**
 * The text of a plain file, up to a limit. Who is told to read a pipe or a device would wait for ever, so nothing is
 * waited for, and what is no file of UTF-8 is refused.
 */
export async function readPlainFile(path: string, maxBytes: number): Promise<string> {
	const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		const about = await file.stat();
		if (!about.isFile()) throw new NotPlain(`it is ${kindOf(about)}`);
		if (about.size > maxBytes) throw new NotPlain(`it has ${about.size} bytes, and ${maxBytes} is the limit`);
		return await decoded(file, about.size);
	} finally {
		await file.close();
	}
}

const kindOf = (about: Stats): string =>
	about.isDirectory() ? 'a folder' : about.isFIFO() ? 'a pipe' : 'no plain file';

async function decoded(file: FileHandle, size: number): Promise<string> {
	const buffer = Buffer.alloc(size);
	let length = 0;
	for (let read = -1; read !== 0 && length < size; length += read)
		({bytesRead: read} = await file.read(buffer, length, size - length, length));
	try {
		return new TextDecoder('utf-8', {fatal: true}).decode(buffer.subarray(0, length));
	} catch {
		throw new NotPlain('it is not UTF-8');
	}
}
