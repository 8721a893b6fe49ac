import {constants, type FileHandle, open, readdir, rename, unlink} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {livenessOf, ownProcessIdentity, PROCESS_IDENTITY_PATTERN} from './process-identity.js';

/**
 * Replaces a file, for its owner alone unless another mode is wanted: whatever happens, a crash or a full disk, there is the old content or the new,
 * and when this resolves it is the new one for good. A link in its place is replaced and never followed.
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

/** What a file is to become, written down already. One of the two has to be called. */
type StagedWrite = {
	/** It takes the place of the file, which is durable once the folder is synced. */
	commit(): Promise<void>;
	/** It is thrown away, and the file stays. */
	discard(): Promise<void>;
};

/** Writes what a file is to become beside it, for those who have to look once more before they replace it. */
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
	// Nobody else makes files of this name; were it there all the same, it would not be ours to write to.
	const handle = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
	await discardOnError(writeAndSync(handle, content, mode));
	return {commit: () => discardOnError(rename(temp, path)), discard};
}

async function writeAndSync(handle: FileHandle, content: string | Uint8Array, mode: number): Promise<void> {
	try {
		// It fails where the disk takes less than all of it.
		await handle.writeFile(content);
		if (mode !== 0o600) await handle.chmod(mode);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** Makes what was renamed, made or removed in a folder durable. */
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

/** Compiled from constants. */
const tempNamePattern = new RegExp(`^\\..+\\.(${PROCESS_IDENTITY_PATTERN})\\.\\d+\\.tmp$`);

/** The temporary files of a folder that processes left behind which are no more. */
export const findStaleTempFiles = async (folder: string): Promise<string[]> =>
	(await readdir(folder)).filter(name => {
		const mark = tempNamePattern.exec(name)?.[1];
		return mark !== undefined && livenessOf(mark) === 'dead';
	});

/** Removes them, and tells which. */
export async function removeStaleTempFiles(folder: string): Promise<string[]> {
	const names = await findStaleTempFiles(folder);
	for (const name of names) await unlink(join(folder, name)).catch(() => {});
	return names;
}
