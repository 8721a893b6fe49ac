import {type FileHandle, rename, stat, unlink} from 'node:fs/promises';
import {BridgeError} from '../core/errors.js';
import {openForAppend} from '../files/append-file.js';
import {connectionIdOf} from '../traffic-log/decode.js';
import {readLogLines} from '../traffic-log/log-files.js';

/** A recording that is made anew beside the old one, and takes its place when it is complete. */
export class ReplacementRecording {
	/** Where it is made. */
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
				`${target} is no file, so it cannot be replaced by a new recording.`,
				'Name the file, or record with --log FILE instead of --update.',
			);
		const recording = new ReplacementRecording(target);
		await recording.discard();
		return recording;
	}

	/** Takes over what the old one has of other connections. */
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

	/** Puts it in the place of the old one. */
	replace(): Promise<void> {
		return rename(this.path, this.#target);
	}

	/** Removes it, if it is still there. */
	discard(): Promise<void> {
		return unlink(this.path).catch(() => {});
	}
}
