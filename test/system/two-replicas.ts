import type {ExecutionContext} from 'ava';
import {type Roamer, startReplicas} from '../e2e/replicas/support.js';
import type {RunningGateway} from '../helpers/gateway.js';
import {program} from '../helpers/gateway.js';
import {event, startUpstream, stream, type Upstream} from '../helpers/upstream.js';
import {becomes} from './balanced.js';
import {type RunningRedis, startRedis, userOfDocs} from './redis.js';

type Setting = {
	readonly redis: RunningRedis;
	readonly upstream: Upstream;
	readonly one: RunningGateway;
	readonly two: RunningGateway;
};

export async function setting(t: ExecutionContext): Promise<Setting> {
	const redis = await startRedis(t, userOfDocs());
	const upstream = await startUpstream(t);
	const servers = {
		http: {url: upstream.url, cacheTools: true},
		plain: {url: upstream.url},
		puppet: program('puppet'),
	};
	const store = `redis://bridge:planted-password@127.0.0.1:${redis.port}`;
	const [one, two] = await startReplicas(t, 2, {servers, store, limits: {rate: '1000/h'}});
	if (!one || !two) throw new Error('There are two.');
	for (const gateway of [one, two]) await becomes(gateway, 'ready');
	return {redis, upstream, one, two};
}

/**
 * Makes the upstream respond with an event stream. Resolves to a function that sends further messages on
 * it.
 */
export function slowResponse(upstream: Upstream): Promise<(message: object) => void> {
	return new Promise(resolve => {
		upstream.mood = met => {
			if (met.message.method !== 'tools/call') return false;
			const response = stream(met, event(progress(0)));
			resolve(message => response.write(event({...message})));
			return true;
		};
	});
}

export const progress = (n: number) => ({
	method: 'notifications/progress',
	params: {progressToken: 'p', progress: n},
});

/**
 * Makes a call, reads the first event of the response, and disconnects. Resolves to the id of that event.
 */
export async function callAndDisconnect(
	gateway: RunningGateway,
	{service, headers}: Roamer,
): Promise<string> {
	const stop = new AbortController();
	const params = {name: 'echo', arguments: {}, _meta: {progressToken: 'p'}};
	const response = await fetch(new URL(`/mcp/${service}`, gateway.base), {
		method: 'POST',
		headers: {...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream'},
		body: JSON.stringify({jsonrpc: '2.0', id: 'call', method: 'tools/call', params}),
		signal: stop.signal,
	});
	const reader = response.body?.getReader();
	let text = '';
	while (!/^id: \S+\ndata: .+"progress":0/m.test(text))
		text += Buffer.from((await reader?.read())?.value ?? '').toString();
	stop.abort();
	return /^id: (\S+)\ndata: .+"progress":0/m.exec(text)?.[1] ?? '';
}
