import test, {type ExecutionContext} from 'ava';
import {type GatewayConfig, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {startUpstream, type Upstream} from '../../helpers/upstream.js';

/** A gateway, and the upstream of one of its services. */
export type Setting = {
	readonly gateway: RunningGateway;
	readonly upstream: Upstream;
	readonly service: string;
};

/**
 * Starts one gateway for all tests of a file, because starting one per test is slow. Each test gets a service
 * with an upstream.
 * `services` maps names to settings other than the URL.
 */
export function shareGateway(
	services: {readonly [name: string]: GatewayConfig},
	config: GatewayConfig = {},
	args: readonly string[] = [],
): (service: string) => Setting {
	const teardowns: Array<() => unknown> = [];
	// Hooks have no teardown function.
	const context = {
		teardown: (teardown: () => unknown) => void teardowns.push(teardown),
	} as unknown as ExecutionContext;
	const upstreams = new Map<string, Upstream>();
	let gateway: RunningGateway | undefined;
	test.before(async () => {
		const servers: {[name: string]: GatewayConfig} = {};
		for (const [name, settings] of Object.entries(services)) {
			const upstream = await startUpstream(context);
			upstreams.set(name, upstream);
			servers[name] = {url: upstream.url, ...settings};
		}
		gateway = await startGateway(context, {servers, ...config}, {args});
	});
	test.after.always(async () => {
		for (const teardown of teardowns.reverse()) await teardown();
	});
	return service => {
		const upstream = upstreams.get(service);
		if (!gateway || !upstream) throw new Error(`There is no service ${service} in this file.`);
		return {gateway, upstream, service};
	};
}

/** Services with these names and default settings. */
export const plain = (...names: string[]): {[name: string]: GatewayConfig} =>
	Object.fromEntries(names.map(name => [name, {}]));
