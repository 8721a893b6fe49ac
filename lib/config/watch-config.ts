import {stat} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../core/errors.js';
import {watchFiles} from '../files/watch-files.js';
import type {EnvironmentVariables} from './expand-variables.js';
import {combineStamps, type LoadedConfig, loadConfigFile} from './load-config.js';
import {fileStamp} from './read-file.js';

export type WatchConfigOptions = {
	/** What holds now. */
	readonly loaded: LoadedConfig;
	/** What variables are taken from. */
	readonly environment?: EnvironmentVariables;
	readonly onLoaded: (loaded: LoadedConfig) => void;
	/** The file is broken or gone; what held before still does. */
	readonly onError: (error: BridgeError) => void;
	/** How often the file is looked at, since the system does not tell of every change. */
	readonly pollMs?: number;
	/** How long a file has to stay as it is before it is read: whoever writes it may not be done. */
	readonly settleMs?: number;
};

/** Reads a configuration again whenever its file changes, be it written to or replaced, until it is closed. */
export function watchConfig(options: WatchConfigOptions): {close(): void} {
	const {loaded, environment = process.env, onLoaded, onError, pollMs = 2000, settleMs = 100} = options;
	const {file, trust} = loaded;
	if (file === undefined) return {close: () => {}};
	let isClosed = false;
	const read = async (stamp: string): Promise<string> => {
		try {
			await rejectEmptyFile(file);
			const next = await loadConfigFile(file, environment, {trust});
			if (!isClosed) onLoaded(next);
			return next.stamp;
		} catch (error) {
			if (!(error instanceof BridgeError)) throw error;
			if (!isClosed) onError(error);
			return stamp;
		}
	};
	const changes = watchFiles({
		pollMs,
		settleMs,
		initialStamp: loaded.stamp,
		folder: dirname(file),
		// A change that is not trusted yet is read again when `bridge trust` has recorded it.
		readStamp: async () => combineStamps(await fileStamp(file), await trust?.stamp(file)),
		isRelevant: name => name === basename(file),
		onChange: read,
	});
	return {
		close() {
			isClosed = true;
			changes.close();
		},
	};
}

/** Many write a file by emptying it first. Who reads it then must not take that for the wish to have no servers. */
async function rejectEmptyFile(file: string): Promise<void> {
	const found = await stat(file).catch(() => undefined);
	if (found?.size !== 0) return;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`${basename(file)} is empty.`,
		'Write {} into it to have no servers.',
	);
}
