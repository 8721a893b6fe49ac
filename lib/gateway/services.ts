import {isSameService} from '../config/changes.js';
import type {Config} from '../config/schema.js';
import {Service, type ServiceOptions} from './service.js';

/** The services of a configuration; those that are the same as before stay what they are. */
export function servicesOf(
	config: Config,
	options: ServiceOptions,
	old: ReadonlyMap<string, Service>,
): Map<string, Service> {
	const all = [...config.services].map(([name, one]): [string, Service] => {
		const known = old.get(name);
		return [name, known && isSameService(known.config, one) ? known : new Service(one, options)];
	});
	return new Map(all);
}
