import type {Config, ServiceConfig} from './schema.js';

/** The differences between the services of two configurations. */
type ServiceChanges = {
	readonly added: readonly ServiceConfig[];
	readonly changed: readonly ServiceConfig[];
	/** Names of services. */
	readonly removed: readonly string[];
};

/** Compares the services of two configurations. */
export function diffServices(before: Config, after: Config): ServiceChanges {
	const services = [...after.services.values()];
	return {
		added: services.filter(({name}) => !before.services.has(name)),
		changed: services.filter(service => {
			const old = before.services.get(service.name);
			return old !== undefined && !isEqualService(old, service);
		}),
		removed: [...before.services.keys()].filter(name => !after.services.has(name)),
	};
}

/**
 * Compares by JSON, since all services have the same key order. Reordered variables or headers count as a
 * change.
 */
export const isEqualService = (one: ServiceConfig, other: ServiceConfig): boolean =>
	JSON.stringify(one) === JSON.stringify(other);

export function isEqualConfig(one: Config, other: Config): boolean {
	const text = ({services, ...rest}: Config): string => JSON.stringify([rest, [...services]]);
	return text(one) === text(other);
}
