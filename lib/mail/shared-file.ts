import {lstatSync} from 'node:fs';
import {lstat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {isWithin} from '../atm/files.js';
import {BridgeError} from '../errors.js';
import {syncFolder, writeBeside} from '../store/atomic-file.js';
import {NotPlain, readPlain} from '../store/read-plain.js';
import {underFileLock} from './file-lock.js';
import {Torn} from './inbox-text.js';

/** Others stop to work well at a tenth of it. */
export const MAX_BYTES = 32 * 2 ** 20;
const LOOKS = 4;
const BETWEEN_MS = 17;
/** How often the file may be another one just before it is replaced. */
const REDOS = 50;

/** A file that other programs write to as well, some of them in place, so that one may see it half written. */
export class SharedFile {
	readonly path: string;
	readonly #root: string;

	/** `root` is the folder that it must be in, whatever links there are. */
	constructor(path: string, root: string) {
		this.path = path;
		this.#root = root;
	}

	/**
	 * Changes when the file does; undefined where there is none. It is looked at at once: whoever waits for a thread to do
	 * that waits longer, as others write to disk there.
	 */
	stamp(): string | undefined {
		try {
			const found = lstatSync(this.path, {bigint: true, throwIfNoEntry: false});
			return found && `${found.ino}:${found.size}:${found.mtimeNs}`;
		} catch {
			return;
		}
	}

	/**
	 * What `understand` makes of its content, which is undefined where there is no file. What is torn may be being written:
	 * it is looked at again, in the end while nobody writes.
	 */
	async read<T>(understand: (bytes: Buffer | undefined) => T): Promise<T> {
		await this.#check();
		try {
			return await this.#look(understand);
		} catch (error) {
			if (!(error instanceof Torn)) throw error;
			return await underFileLock(this.path, () => this.#look(understand).catch(this.#refuse));
		}
	}

	/**
	 * Replaces the content by what `edit` makes of it, or leaves it if that is nothing. Nobody's change is lost: others are
	 * kept away where they can be, and if one was quicker all the same, it is done once more on what is there then. What
	 * cannot be understood is never replaced.
	 */
	async edit(edit: (bytes: Buffer | undefined) => Buffer | undefined): Promise<void> {
		await this.#check();
		const isChanged = await underFileLock(this.path, async () => {
			for (let redos = 0; redos < REDOS; redos++) {
				const look = (bytes: Buffer | undefined) => ({before: bytes, after: edit(bytes)});
				const {before, after} = await this.#look(look).catch(this.#refuse);
				if (after === undefined) return false;
				if (await this.#replace(before, after)) return true;
			}
			throw unreadable(this.path, 'it changes all the time');
		});
		if (isChanged) await syncFolder(dirname(this.path));
	}

	/** What is torn is looked at again. */
	async #look<T>(understand: (bytes: Buffer | undefined) => T): Promise<T> {
		for (let looks = 1; ; looks++) {
			try {
				return understand(await this.#bytes());
			} catch (error) {
				if (!(error instanceof Torn) || looks === LOOKS) throw error;
				await sleep(BETWEEN_MS);
			}
		}
	}

	readonly #refuse = (error: unknown): never => {
		throw error instanceof Torn ? unreadable(this.path, error.message) : error;
	};

	async #replace(before: Buffer | undefined, after: Buffer): Promise<boolean> {
		if (after.length > MAX_BYTES) throw tooLarge(this.path);
		const found = await lstat(this.path).catch(() => undefined);
		const successor = await writeBeside(this.path, after, found ? found.mode & 0o777 : 0o600);
		const now = await this.#bytes().catch(() => undefined);
		const isSame = before === undefined ? now === undefined : now?.equals(before);
		await (isSame ? successor.replace() : successor.discard());
		return isSame === true;
	}

	async #bytes(): Promise<Buffer | undefined> {
		try {
			return await readPlain(this.path, MAX_BYTES);
		} catch (error) {
			throw error instanceof NotPlain ? unreadable(this.path, error.message) : error;
		}
	}

	async #check(): Promise<void> {
		if (await isWithin(dirname(this.path), this.#root)) return;
		throw unreadable(this.path, `a link leads out of ${this.#root}`);
	}
}

const unreadable = (path: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_MAIL_UNREADABLE',
		`${path} cannot be understood: ${reason}. It is left as it is.`,
		'Mend it, or move it away to begin with an empty one.',
		{path},
	);

const tooLarge = (path: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${path} would become longer than ${MAX_BYTES / 2 ** 20} MiB.`,
		'Its owner has to read and remove old mail first.',
		{path},
	);
