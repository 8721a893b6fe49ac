import {type FSWatcher, watch} from 'node:fs';
import {stat} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../errors.js';
import type {Variables} from './expand.js';
import {type Loaded, loadFile} from './load.js';
import {stampNow} from './read.js';

export type WatchOptions = {
	/** What holds now. */
	readonly loaded: Loaded;
	/** What variables are taken from. */
	readonly environment?: Variables;
	readonly onLoaded: (loaded: Loaded) => void;
	/** The file is broken or gone; what held before still does. */
	readonly onError: (error: BridgeError) => void;
	/** How often the file is looked at, since the system does not tell of every change. */
	readonly pollMs?: number;
	/** How long a file has to stay as it is before it is read: whoever writes it may not be done. */
	readonly settleMs?: number;
};

/** Reads a configuration again whenever its file changes, be it written to or replaced, until it is closed. */
export function watchConfig(options: WatchOptions): {close(): void} {
	const {loaded, environment = process.env, onLoaded, onError, pollMs = 2000, settleMs = 100} = options;
	const {file} = loaded;
	if (file === undefined) return {close: () => {}};
	let known = loaded.stamp;
	let isClosed = false;
	let isLooking = false;
	let settling: NodeJS.Timeout | undefined;

	const look = async (before?: string): Promise<void> => {
		if (isClosed) return;
		if (isLooking) return lookLater();
		isLooking = true;
		try {
			const stamp = await stampNow(file);
			if (isClosed || stamp === known) return;
			if (stamp === before) await read(stamp);
			else lookLater(stamp);
		} finally {
			isLooking = false;
		}
	};
	const lookLater = (stamp?: string): void => {
		clearTimeout(settling);
		settling = setTimeout(() => void look(stamp), settleMs).unref();
	};
	const read = async (stamp: string): Promise<void> => {
		known = stamp;
		try {
			await refuseEmpty(file);
			const next = await loadFile(file, environment);
			if (isClosed) return;
			known = next.stamp;
			onLoaded(next);
		} catch (error) {
			if (!(error instanceof BridgeError)) throw error;
			if (!isClosed) onError(error);
		}
	};

	const hints = hintsOf(file, () => lookLater());
	const poll = setInterval(() => void look(), pollMs).unref();
	return {
		close() {
			isClosed = true;
			clearTimeout(settling);
			clearInterval(poll);
			hints?.close();
		},
	};
}

/** Many write a file by emptying it first. Who reads it then must not take that for the wish to have no servers. */
async function refuseEmpty(file: string): Promise<void> {
	const found = await stat(file).catch(() => undefined);
	if (found?.size !== 0) return;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`${basename(file)} is empty.`,
		'Write {} into it to have no servers.',
	);
}

/**
 * What the system tells of a file's folder, as most editors replace files rather than write to them. Where it cannot
 * be had, the file is only looked at from time to time.
 */
function hintsOf(file: string, onHint: () => void): FSWatcher | undefined {
	try {
		const watcher = watch(dirname(file), {persistent: false}, (_, name) => {
			if (name === null || name === basename(file)) onHint();
		});
		watcher.on('error', () => watcher.close());
		return watcher;
	} catch {
		return;
	}
}
