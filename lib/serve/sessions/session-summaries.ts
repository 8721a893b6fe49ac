import {realpath, rmdir, unlink} from 'node:fs/promises';
import {join, sep} from 'node:path';
import {BridgeError} from '../../core/errors.js';
import {writeAtomically} from '../../files/atomic-write.js';
import {makeFolder} from '../../files/make-folder.js';
import {FileRejectedError, readRegularFile} from '../../files/read-regular-file.js';
import {checkName} from '../names.js';

const MAX_BYTES = 2 ** 20;

/** The summaries of a team's sessions: `<identity>/<thread-id>/summary.md` in its folder. */
export class SessionSummaries {
	readonly #folder: string;

	/** The team's folder: see `stateFolder` in lib/serve/paths.ts. */
	constructor(folder: string) {
		this.#folder = folder;
	}

	/** Returns the path of a summary. Throws for unsafe names, including thread ids from Codex. */
	path(identity: string, threadId: string): string {
		return join(this.#folderOf(identity, threadId), 'summary.md');
	}

	/** Returns undefined if there is no summary. Invalid UTF-8 is replaced. */
	async read(identity: string, threadId: string): Promise<string | undefined> {
		const path = this.path(identity, threadId);
		try {
			if (!(await this.#isInside(this.#folderOf(identity, threadId))))
				throw new FileRejectedError('a symbolic link points outside the folder');
			return (await readRegularFile(path, MAX_BYTES))?.toString();
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
			if (error instanceof FileRejectedError) throw unusableSummary(path, error.message);
			throw error;
		}
	}

	/** Resolves when the summary is durable. A blank text is ignored, so that it does not replace a summary. */
	async write(identity: string, threadId: string, text: string): Promise<void> {
		const folder = this.#folderOf(identity, threadId);
		if (text.trim() === '') return;
		const bytes = Buffer.from(text);
		if (bytes.length > MAX_BYTES)
			throw unusableSummary(this.path(identity, threadId), `it would be longer than ${MAX_BYTES} bytes`);
		await makeFolder(folder);
		if (!(await this.#isInside(folder)))
			throw unusableSummary(folder, 'a symbolic link points outside the folder');
		await writeAtomically(join(folder, 'summary.md'), bytes);
	}

	/** Removes a summary and its empty folders. Returns whether there was a summary. */
	async remove(identity: string, threadId: string): Promise<boolean> {
		const folder = this.#folderOf(identity, threadId);
		if (!(await this.#isInside(folder).catch(() => false))) return false;
		const isRemoved = await unlink(join(folder, 'summary.md')).then(
			() => true,
			() => false,
		);
		await rmdir(folder).catch(() => {});
		await rmdir(join(folder, '..')).catch(() => {});
		return isRemoved;
	}

	#folderOf(identity: string, threadId: string): string {
		return join(this.#folder, checkName(identity, 'identity'), checkName(threadId, 'thread id'));
	}

	/** Guards against symbolic links in place of folders. The names themselves are safe. */
	async #isInside(folder: string): Promise<boolean> {
		const root = await realpath(this.#folder);
		return (await realpath(folder)).startsWith(`${root}${sep}`);
	}
}

const unusableSummary = (path: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The summary ${path} cannot be used: ${reason}.`,
		'Inspect it, and delete it if you did not create it.',
	);
