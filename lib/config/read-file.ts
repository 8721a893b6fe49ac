import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {type FileHandle, open, stat} from 'node:fs/promises';
import process from 'node:process';
import {BridgeError} from '../core/errors.js';
import {describeForeignWriters} from '../files/secure-file.js';
import {type FileExtension, fileExtensions} from './parse-text.js';

/** The default size limit of a configuration file. */
const MAX_BYTES = 2 ** 20;

type ConfigFileText = {
	readonly text: string;
	readonly stamp: string;
	readonly isReadableByOthers: boolean;
	/** Why other users can write the file; undefined if they cannot. */
	readonly writers: string | undefined;
	/** The hash of the bytes, in hexadecimal. */
	readonly sha256: string;
};

/** Reads a regular file up to a size limit. Rejects pipes and devices, which may never end. */
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
		if (!found.isFile())
			throw unusableFileError(
				`${displayName} is not a regular file.`,
				'Pass the path of a file to --config.',
			);
		const bytes = await readAll(handle, maxBytes);
		if (bytes.length > maxBytes)
			throw unusableFileError(
				`${displayName} is too large.`,
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

/** Returns a text that changes when a file is written, replaced or removed. */
export async function fileStamp(file: string): Promise<string> {
	const found = await stat(file, {bigint: true}).catch(() => undefined);
	return found ? formatStamp(found) : 'missing';
}

const toNumbers = ({uid, gid, mode}: {uid: bigint; gid: bigint; mode: bigint}) => ({
	uid: Number(uid),
	gid: Number(gid),
	mode: Number(mode),
});

type StampFields = {readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint};
const formatStamp = ({ino, size, mtimeNs}: StampFields): string => `${ino} ${size} ${mtimeNs}`;

/** Reads up to one byte more than the limit, so that the caller can detect a larger file. */
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
		throw unusableFileError(`${displayName} is not valid UTF-8.`, 'Save the file as UTF-8.');
	}
}

const errorReason = ({code, message}: NodeJS.ErrnoException): string =>
	new Map([
		['ENOENT', 'no such file'],
		['EACCES', 'permission denied'],
		['EISDIR', 'it is a folder'],
	]).get(code ?? '') ?? message;

const unusableFileError = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', message, remedy);

/** Returns the extension of a file name, which selects the syntax. */
export function extensionOf(file: string, displayName: string): FileExtension {
	const extension = fileExtensions.find(each => file.toLowerCase().endsWith(each));
	if (extension) return extension;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`The file type of ${displayName} is not supported.`,
		`The name must end in ${fileExtensions.join(', ')}.`,
	);
}
