import {stat} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../core/errors.js';
import {watchFiles} from '../files/watch-files.js';
import type {EnvironmentVariables} from './expand-variables.js';
import {combineStamps, type LoadedConfig, loadConfigFile} from './load-config.js';
import {fileStamp} from './read-file.js';

export type WatchConfigOptions = {
	/** The current configuration. */
	readonly loaded: LoadedConfig;
	/** The variables available for expansion. */
	readonly environment?: EnvironmentVariables;
	readonly onLoaded: (loaded: LoadedConfig) => void;
	/** Called when the file is invalid or missing. The previous configuration stays in effect. */
	readonly onError: (error: BridgeError) => void;
	/** The poll interval, since file system events can be missed. */
	readonly pollMs?: number;
	/** The time without changes before the file is read, since a write may be incomplete. */
	readonly settleMs?: number;
};

/** Reloads a configuration whenever its file is written or replaced, until it is closed. */
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
		// Includes the trust entry, so that an untrusted change is reloaded once `bridge trust` has recorded
		// it.
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

/**
 * Rejects an empty file. Many programs truncate a file before writing it, and this must not remove all
 * servers.
 */
async function rejectEmptyFile(file: string): Promise<void> {
	const found = await stat(file).catch(() => undefined);
	if (found?.size !== 0) return;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`${basename(file)} is empty.`,
		'To configure no servers, write {} into the file.',
	);
}
