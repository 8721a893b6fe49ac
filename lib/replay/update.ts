import {type FileHandle, rename, stat, unlink} from 'node:fs/promises';
import {BridgeError} from '../errors.js';
import {openToAppend} from '../store/append.js';
import {connIdIn} from '../store/decode.js';
import {linesOf} from '../store/log-files.js';

/** A recording that is made anew beside the old one, and takes its place when it is complete. */
export class NewRecording {
	/** Where it is made. */
	readonly path: string;
	readonly #old: string;

	private constructor(old: string) {
		this.#old = old;
		this.path = `${old}.new`;
	}

	static async beside(old: string): Promise<NewRecording> {
		const found = await stat(old).catch(() => undefined);
		if (found && !found.isFile())
			throw new BridgeError(
				'ERR_CONFIG_INVALID',
				`${old} is no file, so it cannot be replaced by a new recording.`,
				'Name the file, or record with --log FILE instead of --update.',
			);
		const recording = new NewRecording(old);
		await recording.forget();
		return recording;
	}

	/** Takes over what the old one has of other connections. */
	async keepOthers(replaced: ReadonlySet<string>): Promise<void> {
		const handle = await openToAppend(this.path);
		try {
			await this.#copy(handle, replaced);
		} finally {
			await handle.close();
		}
	}

	async #copy(handle: FileHandle, replaced: ReadonlySet<string>): Promise<void> {
		for await (const lines of linesOf([{path: this.#old, isPipe: false}])) {
			const kept = lines.filter(line => !replaced.has(connIdIn(line) ?? ''));
			if (kept.length > 0) await handle.writeFile(Buffer.concat(kept));
		}
	}

	/** Puts it in the place of the old one. */
	replace(): Promise<void> {
		return rename(this.path, this.#old);
	}

	/** Removes it, if it is still there. */
	forget(): Promise<void> {
		return unlink(this.path).catch(() => {});
	}
}
