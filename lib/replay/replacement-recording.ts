import {type FileHandle, rename, stat, unlink} from 'node:fs/promises';
import {BridgeError} from '../core/errors.js';
import {openForAppend} from '../files/append-file.js';
import {connectionIdOf} from '../traffic-log/decode.js';
import {readLogLines} from '../traffic-log/log-files.js';

/** A new recording next to the old one. It replaces the old one when it is complete. */
export class ReplacementRecording {
	readonly path: string;
	readonly #target: string;

	private constructor(target: string) {
		this.#target = target;
		this.path = `${target}.new`;
	}

	static async create(target: string): Promise<ReplacementRecording> {
		const stats = await stat(target).catch(() => undefined);
		if (stats && !stats.isFile())
			throw new BridgeError(
				'ERR_CONFIG_INVALID',
				`${target} is not a regular file, so it cannot be replaced by a new recording.`,
				'Name the file, or record with --log FILE instead of --update.',
			);
		const recording = new ReplacementRecording(target);
		await recording.discard();
		return recording;
	}

	/** Copies the lines of other connections from the old recording. */
	async copyOtherConnections(replaced: ReadonlySet<string>): Promise<void> {
		const handle = await openForAppend(this.path);
		try {
			await this.#copy(handle, replaced);
		} finally {
			await handle.close();
		}
	}

	async #copy(handle: FileHandle, replaced: ReadonlySet<string>): Promise<void> {
		for await (const lines of readLogLines([{path: this.#target, isPipe: false}])) {
			const otherLines = lines.filter(line => !replaced.has(connectionIdOf(line) ?? ''));
			if (otherLines.length > 0) await handle.writeFile(Buffer.concat(otherLines));
		}
	}

	replace(): Promise<void> {
		return rename(this.path, this.#target);
	}

	/** Deletes the new recording, if it still exists. */
	discard(): Promise<void> {
		return unlink(this.path).catch(() => {});
	}
}
