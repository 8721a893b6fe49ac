import type {Config, ServiceConfig} from '../lib/config/schema.js';
import type {Flags} from './flags.js';

/** What is in force: what the file says of its servers, where flags say nothing else. */
export function effective(config: Config, flags: Flags): Config {
	const given: Partial<ServiceConfig> = {
		...(flags.timeoutMs === undefined ? {} : {timeoutMs: flags.timeoutMs}),
		...(flags.clientVersion === undefined ? {} : {clientVersion: flags.clientVersion}),
		...(flags.targetVersion === undefined ? {} : {targetVersion: flags.targetVersion}),
		...(flags.cacheTools ? {cacheTools: true} : {}),
	};
	const services = [...config.services].map(([name, one]) => [name, {...one, ...given}] as const);
	return {...config, services: new Map(services)};
}
