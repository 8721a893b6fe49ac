import type {Config, ServiceConfig} from '../../lib/config/schema.js';
import type {Values} from '../cli/option.js';
import {type cacheTools, TIMEOUT_FLAG, type timeout, type versionOptions} from '../cli/options.js';

/** Flags that replace settings of all servers. */
export type ServerFlags = Values<
	typeof versionOptions & {readonly timeout: typeof timeout; readonly cacheTools: typeof cacheTools}
>;

/** What is in force: what the file says of its servers, where flags say nothing else. */
export function effective(config: Config, flags: ServerFlags): Config {
	const given: Partial<ServiceConfig> = {
		...(flags.timeout === undefined ? {} : {timeoutMs: flags.timeout, timeoutSetting: TIMEOUT_FLAG}),
		...(flags.clientVersion === undefined ? {} : {clientVersion: flags.clientVersion}),
		...(flags.targetVersion === undefined ? {} : {targetVersion: flags.targetVersion}),
		...(flags.cacheTools ? {cacheTools: true} : {}),
	};
	const services = [...config.services].map(([name, one]) => [name, {...one, ...given}] as const);
	return {...config, services: new Map(services)};
}
