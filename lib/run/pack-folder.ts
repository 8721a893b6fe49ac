import {pathToFileURL} from 'node:url';
import {digestFolder, type TrustedPacks} from '../config/folder-digest.js';
import {trustCommand} from '../config/trust.js';
import type {Log} from '../core/log.js';
import {watchFiles} from '../files/watch-files.js';
import {onUncaughtError} from '../util/uncaught-errors.js';
import {loadLocalPacks, stampPacks} from './local-packs.js';
import type {Pack} from './types.js';

type PackFolderOptions = {
	readonly folder: string;
	/** The trusted content of the folder. Other content is not loaded. Undefined: any content is loaded. */
	readonly trusted?: TrustedPacks | undefined;
	readonly log: Log;
	/** The time limit for loading one module. */
	readonly timeoutMs: number;
	/** Called after changed packs were loaded. */
	readonly onChange: () => void;
};

/** The local packs of a folder. Reloads them when files change. */
export class PackFolder {
	readonly #options: PackFolderOptions;
	/** Resolves after the first load. */
	readonly ready: Promise<void>;
	packs: readonly Pack[] = [];
	#watcher: {close(): void} | undefined;
	#isClosed = false;
	readonly #removeErrorHandler: () => void;

	constructor(options: PackFolderOptions) {
		this.#options = options;
		this.#removeErrorHandler = onUncaughtError(error => this.#handleUncaught(error));
		this.ready = this.#start();
	}

	close(): void {
		this.#isClosed = true;
		this.#watcher?.close();
		this.#removeErrorHandler();
	}

	async #start(): Promise<void> {
		const {folder, onChange} = this.#options;
		const initialStamp = await stampPacks(folder);
		await this.#load();
		if (this.#isClosed) return;
		this.#watcher = watchFiles({
			initialStamp,
			folder,
			readStamp: () => stampPacks(folder),
			onChange: async stamp => {
				if (!(await this.#load())) return stamp;
				this.#options.log.info('run.packs.loaded', 'The local packs have changed and were reloaded.');
				if (!this.#isClosed) onChange();
				return stamp;
			},
		});
	}

	/**
	 * Returns whether the packs were loaded. Untrusted packs are not loaded, and the packs loaded before stay
	 * in use.
	 */
	async #load(): Promise<boolean> {
		const {folder, log, timeoutMs, trusted} = this.#options;
		if (trusted && (await digestFolder(folder).catch(() => undefined)) !== trusted.sha256) {
			const text = `The packs in ${folder} have changed since they were trusted. The packs loaded before stay in use.`;
			log.error('run.packs.untrusted', `${text} Review them, then run: ${trustCommand(trusted.file)}`);
			return false;
		}
		this.packs = await loadLocalPacks(folder, log, timeoutMs);
		return true;
	}

	/** Handles errors that pack code throws after its call has returned. They must not end the process. */
	#handleUncaught(error: unknown): boolean {
		const {folder, log} = this.#options;
		const {stack = '', message} = error instanceof Error ? error : {message: ''};
		if (!isThrownIn(stack, folder)) return false;
		log.error('run.pack.uncaught', `A local pack failed in the background: ${message}`, {stack});
		return true;
	}
}

/** Whether the stack contains a module directly in the folder. Modules in subfolders do not count. */
const isThrownIn = (stack: string, folder: string): boolean =>
	[folder, pathToFileURL(folder).href].some(location =>
		stack
			.split(location.replace(/\/?$/, '/'))
			.slice(1)
			.some(rest => /^[^/\s]+\.[cm]?js\b/.test(rest)),
	);
