import type {Config, ServiceConfig} from '../../lib/config/schema.js';
import type {OptionValues} from './cli/option.js';
import {type cacheToolsFlag, TIMEOUT_FLAG, type timeoutFlag, type versionOptions} from './cli/options.js';

/** Flags that override settings of all servers. */
type ServerFlags = OptionValues<
	typeof versionOptions & {readonly timeout: typeof timeoutFlag; readonly cacheTools: typeof cacheToolsFlag}
>;

/** Returns the configuration with the flags applied to all servers. */
export function applyServerFlags(config: Config, flags: ServerFlags): Config {
	const overrides: Partial<ServiceConfig> = {
		...(flags.timeout === undefined ? {} : {timeoutMs: flags.timeout, timeoutSetting: TIMEOUT_FLAG}),
		...(flags.clientVersion === undefined ? {} : {clientVersion: flags.clientVersion}),
		...(flags.targetVersion === undefined ? {} : {targetVersion: flags.targetVersion}),
		...(flags.cacheTools ? {cacheTools: true} : {}),
	};
	const services = [...config.services].map(([name, one]) => [name, {...one, ...overrides}] as const);
	return {...config, services: new Map(services)};
}
