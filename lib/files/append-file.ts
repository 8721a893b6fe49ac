import {constants, type FileHandle, lstat, open} from 'node:fs/promises';
import {checkParentFolder, isDevice, NO_FOLLOW, openError, secureOpenFile} from './secure-file.js';

export {describeFileError} from './secure-file.js';

/** Below the limit of buffers per `writev` call (IOV_MAX). */
const MAX_BUFFERS_PER_WRITE = 512;

const APPEND_FLAGS = constants.O_APPEND | constants.O_NONBLOCK;

/**
 * Opens a file for appending and creates it with mode 0600 if it does not exist. Rejects links, files and
 * folders of other users, and folders that all users can write to. Rejects a pipe without a reader instead of
 * waiting for one.
 */
export function openForAppend(file: string): Promise<FileHandle> {
	return openSecureFile(file, constants.O_WRONLY | constants.O_CREAT | APPEND_FLAGS);
}

async function openSecureFile(file: string, flags: number): Promise<FileHandle> {
	checkParentFolder(file);
	if (isDevice(file)) return open(file, flags, 0o600);
	const handle = await open(file, flags | NO_FOLLOW, 0o600).catch(error =>
		Promise.reject(openError(file, error)),
	);
	try {
		secureOpenFile(handle.fd, file);
		return handle;
	} catch (error) {
		await handle.close();
		throw error;
	}
}

/** Rejects an unsafe log destination without creating the file or opening a pipe. */
export async function checkAppendTarget(file: string): Promise<void> {
	checkParentFolder(file);
	const stats = await lstat(file).catch(() => undefined);
	if (!isDevice(file) && (stats?.isFile() || stats?.isSymbolicLink()))
		await (await openSecureFile(file, constants.O_WRONLY | APPEND_FLAGS)).close();
}

/**
 * Appends buffers to a file, which is created with mode 0600 if it does not exist. Written bytes are removed
 * from the list. After an error, the list contains the rest, and the next attempt continues in the middle of
 * a line. `refill` may add buffers to the list.
 */
export async function appendBuffers(file: string, buffers: Buffer[], refill = (): void => {}): Promise<void> {
	const handle = await openForAppend(file);
	try {
		await writeBuffers(buffers, refill, async batch => (await handle.writev(batch)).bytesWritten);
	} finally {
		await handle.close();
	}
}

/**
 * Writes buffers, including those that `refill` adds to the list. `refill` runs while the last buffer is
 * being written, so producing and writing overlap. `write` returns the number of bytes written.
 */
export async function writeBuffers(
	buffers: Buffer[],
	refill: () => void,
	write: (batch: Buffer[]) => Promise<number>,
): Promise<void> {
	for (;;) {
		if (buffers.length === 0) refill();
		if (buffers.length === 0) return;
		const isLast = buffers.length === 1;
		const pendingWrite = write(buffers.slice(0, MAX_BUFFERS_PER_WRITE));
		const [writtenBytes] = await Promise.all([
			pendingWrite,
			isLast ? Promise.resolve().then(refill) : undefined,
		]);
		dropBytes(buffers, writtenBytes);
	}
}

/** Terminates a line that was truncated by a crash, so that the next line is not appended to it. */
export async function terminateLastLine(file: string): Promise<void> {
	const stats = await lstat(file).catch(() => undefined);
	if (!stats?.isFile() || stats.size === 0) return;
	const handle = await openSecureFile(file, constants.O_RDWR | APPEND_FLAGS);
	try {
		const last = Buffer.alloc(1);
		const {size} = await handle.stat();
		await handle.read(last, 0, 1, size - 1);
		if (last[0] !== 0x0a) await handle.write('\n');
	} finally {
		await handle.close();
	}
}

function dropBytes(buffers: Buffer[], bytes: number): void {
	let count = 0;
	while (count < buffers.length && bytes >= (buffers[count] as Buffer).length)
		bytes -= (buffers[count++] as Buffer).length;
	buffers.splice(0, count);
	if (bytes > 0) buffers[0] = (buffers[0] as Buffer).subarray(bytes);
}
