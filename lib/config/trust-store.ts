import {createHash} from 'node:crypto';
import {readdir, stat, unlink} from 'node:fs/promises';
import {homedir} from 'node:os';
import {basename, dirname, join, resolve} from 'node:path';
import * as z from 'zod';
import {writeAtomically} from '../files/atomic-write.js';
import {makeFolder} from '../files/make-folder.js';
import {readRegularTextFile} from '../files/read-regular-file.js';
import {userStateFolder} from '../files/state-folder.js';
import type {EnvironmentVariables} from './expand-variables.js';
import {resolveRealPath} from './find-file.js';
import {fileStamp} from './read-file.js';

const entrySchema = z.object({
	path: z.string(),
	sha256: z.string(),
	packs: z.object({folder: z.string(), sha256: z.string()}).optional(),
});

/** The content of a configuration file and of its packs when it was trusted. */
export type TrustEntry = z.infer<typeof entrySchema>;

/** Above this number, the oldest entry is removed. */
const MAX_ENTRIES = 1000;
const MAX_ENTRY_BYTES = 64 * 1024;

/**
 * The records of `bridge trust`. Each configuration has its own file, so that processes do not overwrite each
 * other's entries. The key is the file's name in its folder with links resolved. A link to a trusted file
 * elsewhere is not trusted, since its relative paths would resolve to other files.
 */
export class TrustStore {
	readonly #folder: string;

	constructor(environment: EnvironmentVariables, home = homedir()) {
		this.#folder = join(userStateFolder(environment, home), 'trusted');
	}

	/** Returns the entry for the current path of a file. */
	find(file: string): Promise<TrustEntry | undefined> {
		return this.#read(this.#entryFile(file));
	}

	async add(entry: TrustEntry): Promise<void> {
		await makeFolder(this.#folder);
		await writeAtomically(this.#entryFile(entry.path), `${JSON.stringify(entry)}\n`);
		const aged = await this.#byAge();
		for (const old of aged.slice(0, Math.max(0, aged.length - MAX_ENTRIES)))
			await unlink(old).catch(() => {});
	}

	/** Removes an entry. Resolves to whether it existed. */
	remove(file: string): Promise<boolean> {
		return unlink(this.#entryFile(file)).then(
			() => true,
			(error: NodeJS.ErrnoException) => {
				if (error.code === 'ENOENT') return false;
				throw error;
			},
		);
	}

	/** Returns the paths of all trusted files. */
	async list(): Promise<string[]> {
		const entries = await Promise.all((await this.#byAge()).map(file => this.#read(file)));
		return entries.flatMap(entry => entry?.path ?? []).sort();
	}

	/** Returns a text that changes with the entry of a file. */
	stamp(file: string): Promise<string> {
		return fileStamp(this.#entryFile(file));
	}

	#entryFile(file: string): string {
		const name = createHash('sha256').update(trustKey(file)).digest('hex');
		return join(this.#folder, `${name}.json`);
	}

	/** Reads an entry. Ignores invalid files. */
	async #read(file: string): Promise<TrustEntry | undefined> {
		try {
			const text = await readRegularTextFile(file, MAX_ENTRY_BYTES, {isOwn: true});
			const entry = text === undefined ? undefined : entrySchema.parse(JSON.parse(text));
			return entry && this.#entryFile(entry.path) === file ? entry : undefined;
		} catch {
			return;
		}
	}

	async #byAge(): Promise<string[]> {
		const names = await readdir(this.#folder).catch(() => []);
		const files = names
			.filter(name => /^[0-9a-f]{64}\.json$/.test(name))
			.map(name => join(this.#folder, name));
		const aged = await Promise.all(
			files.map(async file => ({file, time: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0})),
		);
		return aged.sort((a, b) => a.time - b.time).map(({file}) => file);
	}
}

/** Returns the key of a file: its name, in its folder with links resolved. */
export const trustKey = (file: string): string => {
	const path = resolve(file);
	return join(resolveRealPath(dirname(path)), basename(path));
};
