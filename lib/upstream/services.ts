import type {Config} from '../config/schema.js';
import {isEqualService} from '../config/service-changes.js';
import {Service, type ServiceOptions} from './service.js';

/** Creates the services of a configuration. Unchanged services are reused. */
export function createServices(
	config: Config,
	options: ServiceOptions,
	old: ReadonlyMap<string, Service>,
): Map<string, Service> {
	const entries = [...config.services].map(([name, serviceConfig]): [string, Service] => {
		const existing = old.get(name);
		return [
			name,
			existing && isEqualService(existing.config, serviceConfig)
				? existing
				: new Service(serviceConfig, options),
		];
	});
	return new Map(entries);
}
