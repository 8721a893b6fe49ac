import type {LoadedConfig} from '../../lib/config/load-config.js';
import type {Config} from '../../lib/config/schema.js';
import {diffServices, isEqualConfig} from '../../lib/config/service-changes.js';
import {watchConfig} from '../../lib/config/watch-config.js';
import {BridgeError} from '../../lib/core/errors.js';
import type {Log} from '../../lib/core/log.js';

type ConfigReloadOptions = {
	readonly loaded: LoadedConfig;
	readonly log: Log;
	/** Returns the effective configuration. */
	readonly current: () => Config;
	/** Applies command-line flags to a loaded file. */
	readonly toEffective: (loaded: LoadedConfig) => Config;
	/** Activates a configuration. */
	readonly apply: (config: Config) => Promise<void>;
};

/** Reloads the configuration when it changes and logs the changes. Invalid files are rejected. */
export function reloadOnChange({loaded, log, current, toEffective, apply}: ConfigReloadOptions): {
	close(): void;
} {
	const logRejected = (error: BridgeError): void => {
		if (error.code === 'ERR_CONFIG_UNTRUSTED')
			log.error(
				'config.untrusted',
				`${error.message} The previous configuration stays in effect. ${error.remedy}`,
			);
		else log.error('config.broken', `${error.sentence} The previous configuration stays in effect.`);
	};
	const reload = async (next: Config): Promise<void> => {
		try {
			const previous = current();
			await apply(next);
			logChanges(log, previous, next);
		} catch (error) {
			if (!(error instanceof BridgeError)) throw error;
			logRejected(error);
		}
	};
	return watchConfig({loaded, onLoaded: next => void reload(toEffective(next)), onError: logRejected});
}

function logChanges(log: Log, before: Config, after: Config): void {
	if (isEqualConfig(before, after)) {
		// Claude Code rewrites its file often, usually without changes to servers.
		log.debug('config.same', 'The configuration file has changed without effect on the configuration.');
		return;
	}
	const {added, changed, removed} = diffServices(before, after);
	log.info('config.loaded', 'The configuration was reloaded.', {
		added: added.map(({name}) => name),
		changed: changed.map(({name}) => name),
		removed,
	});
}
