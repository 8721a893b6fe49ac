import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {type FileHandle, open, stat} from 'node:fs/promises';
import process from 'node:process';
import {BridgeError} from '../core/errors.js';
import {describeForeignWriters} from '../files/secure-file.js';
import {type FileExtension, fileExtensions} from './parse-text.js';

/** No configuration is longer. */
const MAX_BYTES = 2 ** 20;

/** What a file holds, and what is known about it. */
type ConfigFileText = {
	readonly text: string;
	readonly stamp: string;
	readonly isReadableByOthers: boolean;
	/** The reason why other users can write to it; undefined if they cannot. */
	readonly writers: string | undefined;
	/** Of its bytes, in hexadecimal. */
	readonly sha256: string;
};

/** Reads a file, but nothing that is longer than a configuration, and no pipe or device that might not end. */
export async function readConfigText(
	file: string,
	displayName: string,
	maxBytes = MAX_BYTES,
): Promise<ConfigFileText> {
	const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
	const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
		throw unusableFileError(
			`${displayName} cannot be read: ${errorReason(error)}.`,
			'Check the path and its mode, or name another file.',
		);
	});
	try {
		const found = await handle.stat({bigint: true});
		if (!found.isFile()) throw unusableFileError(`${displayName} is no file.`, 'Name a file with --config.');
		const bytes = await readAll(handle, maxBytes);
		if (bytes.length > maxBytes)
			throw unusableFileError(
				`${displayName} is too long.`,
				`A configuration has at most ${maxBytes} bytes.`,
			);
		const isReadableByOthers = process.platform !== 'win32' && (found.mode & 0o044n) !== 0n;
		const sha256 = createHash('sha256').update(bytes).digest('hex');
		return {
			text: decodeUtf8(bytes, displayName),
			stamp: formatStamp(found),
			isReadableByOthers,
			writers: describeForeignWriters(toNumbers(found)),
			sha256,
		};
	} finally {
		await handle.close();
	}
}

/** What changes when a file is written to, replaced by another, or gone. */
export async function fileStamp(file: string): Promise<string> {
	const found = await stat(file, {bigint: true}).catch(() => undefined);
	return found ? formatStamp(found) : 'gone';
}

const toNumbers = ({uid, gid, mode}: {uid: bigint; gid: bigint; mode: bigint}) => ({
	uid: Number(uid),
	gid: Number(gid),
	mode: Number(mode),
});

type StampFields = {readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint};
const formatStamp = ({ino, size, mtimeNs}: StampFields): string => `${ino} ${size} ${mtimeNs}`;

/** All of a file, or enough of it to know that it is too long. */
async function readAll(handle: FileHandle, maxBytes: number): Promise<Uint8Array> {
	const buffer = Buffer.alloc(maxBytes + 1);
	let length = 0;
	while (length < buffer.length) {
		const {bytesRead} = await handle.read(buffer, length, buffer.length - length);
		if (bytesRead === 0) break;
		length += bytesRead;
	}
	return buffer.subarray(0, length);
}

function decodeUtf8(bytes: Uint8Array, displayName: string): string {
	try {
		return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
	} catch {
		throw unusableFileError(`${displayName} is not written in UTF-8.`, 'Save it in that encoding.');
	}
}

const errorReason = ({code, message}: NodeJS.ErrnoException): string =>
	new Map([
		['ENOENT', 'there is no such file'],
		['EACCES', 'it is not allowed'],
		['EISDIR', 'it is a folder'],
	]).get(code ?? '') ?? message;

const unusableFileError = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', message, remedy);

/** The syntax of a file, by its name. */
export function extensionOf(file: string, displayName: string): FileExtension {
	const extension = fileExtensions.find(each => file.toLowerCase().endsWith(each));
	if (extension) return extension;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`The syntax of ${displayName} is unknown.`,
		`Its name has to end in ${fileExtensions.join(', ')}.`,
	);
}
