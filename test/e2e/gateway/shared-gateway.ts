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
 * One gateway for all tests of a file, with a service and an upstream for each of them: a program a test takes too long.
 * The services are given by their names, with what their configuration has beyond the address.
 */
export function shareGateway(
	services: {readonly [name: string]: GatewayConfig},
	config: GatewayConfig = {},
	args: readonly string[] = [],
): (service: string) => Setting {
	const endings: Array<() => unknown> = [];
	// Hooks have no teardown of their own.
	const context = {teardown: (end: () => unknown) => void endings.push(end)} as unknown as ExecutionContext;
	const upstreams = new Map<string, Upstream>();
	let gateway: RunningGateway | undefined;
	test.before(async () => {
		const servers: {[name: string]: GatewayConfig} = {};
		for (const [name, more] of Object.entries(services)) {
			const upstream = await startUpstream(context);
			upstreams.set(name, upstream);
			servers[name] = {url: upstream.url, ...more};
		}
		gateway = await startGateway(context, {servers, ...config}, {args});
	});
	test.after.always(async () => {
		for (const end of endings.reverse()) await end();
	});
	return service => {
		const upstream = upstreams.get(service);
		if (!gateway || !upstream) throw new Error(`There is no service ${service} in this file.`);
		return {gateway, upstream, service};
	};
}

/** As many services without more, by their names. */
export const plain = (...names: string[]): {[name: string]: GatewayConfig} =>
	Object.fromEntries(names.map(name => [name, {}]));
