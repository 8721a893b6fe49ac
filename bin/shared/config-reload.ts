import type {LoadedConfig} from '../../lib/config/load-config.js';
import type {Config} from '../../lib/config/schema.js';
import {diffServices, isEqualConfig} from '../../lib/config/service-changes.js';
import {watchConfig} from '../../lib/config/watch-config.js';
import {BridgeError} from '../../lib/core/errors.js';
import type {Log} from '../../lib/core/log.js';

type ConfigReloadOptions = {
	readonly loaded: LoadedConfig;
	readonly log: Log;
	/** What is in force at present. */
	readonly current: () => Config;
	/** What a file that was read means, flags included. */
	readonly toEffective: (loaded: LoadedConfig) => Config;
	/** Puts another configuration in force. */
	readonly apply: (config: Config) => Promise<void>;
};

/** Reads the configuration again whenever it changes, and tells of that. What is broken changes nothing. */
export function reloadOnChange({loaded, log, current, toEffective, apply}: ConfigReloadOptions): {
	close(): void;
} {
	const logRejected = (error: BridgeError): void => {
		if (error.code === 'ERR_CONFIG_UNTRUSTED')
			log.error(
				'config.untrusted',
				`${error.message} The previous configuration stays in force. ${error.remedy}`,
			);
		else log.error('config.broken', `${error.sentence} The previous configuration stays in force.`);
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
		// Claude Code writes its file again and again, mostly for other reasons than servers.
		log.debug('config.same', 'The configuration file has changed, and means the same.');
		return;
	}
	const {added, changed, removed} = diffServices(before, after);
	log.info('config.loaded', 'The configuration has changed, and is in force.', {
		added: added.map(({name}) => name),
		changed: changed.map(({name}) => name),
		removed,
	});
}
