import {constants, type FileHandle, open, readdir, rename, unlink} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {livenessOf, ownProcessIdentity, PROCESS_IDENTITY_PATTERN} from './process-identity.js';

/**
 * Replaces a file atomically. After a crash or with a full disk, the file has either the old or the new
 * content. The new content is durable when the promise resolves. A link at the path is replaced and never
 * followed.
 */
export async function writeAtomically(
	path: string,
	content: string | Uint8Array,
	mode = 0o600,
): Promise<void> {
	const staged = await stageWrite(path, content, mode);
	await staged.commit();
	await syncFolder(dirname(path));
}

/** New content of a file, written to a temporary file. Either method must be called. */
type StagedWrite = {
	/** Replaces the file. Durable once the folder is synced. */
	commit(): Promise<void>;
	/** Removes the temporary file. */
	discard(): Promise<void>;
};

/**
 * Writes the new content to a temporary file in the same folder, for callers that check again before they
 * replace the file.
 */
export async function stageWrite(
	path: string,
	content: string | Uint8Array,
	mode = 0o600,
): Promise<StagedWrite> {
	const temp = join(dirname(path), tempName(basename(path)));
	const discard = (): Promise<void> => unlink(temp).catch(() => {});
	const discardOnError = async (action: Promise<void>): Promise<void> => {
		try {
			await action;
		} catch (error) {
			await discard();
			throw error;
		}
	};
	// The name is unique. If the file exists nevertheless, it must not be overwritten.
	const handle = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
	await discardOnError(writeAndSync(handle, content, mode));
	return {commit: () => discardOnError(rename(temp, path)), discard};
}

async function writeAndSync(handle: FileHandle, content: string | Uint8Array, mode: number): Promise<void> {
	try {
		await handle.writeFile(content);
		if (mode !== 0o600) await handle.chmod(mode);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** Makes renamed, created and removed entries of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, constants.O_RDONLY);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

let tempCount = 0;

const tempName = (name: string): string => `.${name}.${ownProcessIdentity()}.${tempCount++}.tmp`;

const tempNamePattern = new RegExp(`^\\..+\\.(${PROCESS_IDENTITY_PATTERN})\\.\\d+\\.tmp$`);

/** Returns the names of temporary files that belong to dead processes. */
export const findStaleTempFiles = async (folder: string): Promise<string[]> =>
	(await readdir(folder)).filter(name => {
		const identity = tempNamePattern.exec(name)?.[1];
		return identity !== undefined && livenessOf(identity) === 'dead';
	});

/** Removes temporary files of dead processes. Returns their names. */
export async function removeStaleTempFiles(folder: string): Promise<string[]> {
	const names = await findStaleTempFiles(folder);
	for (const name of names) await unlink(join(folder, name)).catch(() => {});
	return names;
}
