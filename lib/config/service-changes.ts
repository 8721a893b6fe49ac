import type {Config, ServiceConfig} from './schema.js';

/** What has become of the services, by two configurations. Those that are not named are as they were. */
type ServiceChanges = {
	readonly added: readonly ServiceConfig[];
	readonly changed: readonly ServiceConfig[];
	/** Their names. */
	readonly removed: readonly string[];
};

/** Finds the services that have to be touched when one configuration takes the place of another. */
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

/** Both are made in one place, with their keys in one order; a new order of variables or headers is a change, too. */
export const isEqualService = (one: ServiceConfig, other: ServiceConfig): boolean =>
	JSON.stringify(one) === JSON.stringify(other);

/** Whether two configurations mean the same. */
export function isEqualConfig(one: Config, other: Config): boolean {
	const text = ({services, ...rest}: Config): string => JSON.stringify([rest, [...services]]);
	return text(one) === text(other);
}
