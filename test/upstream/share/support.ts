import type {ExecutionContext} from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {type MemoryEndpoint, memoryEndpoint} from '../../../lib/core/memory-endpoint.js';
import type {Endpoint} from '../../../lib/core/stage.js';
import {Valve} from '../../../lib/core/valve.js';
import {SharedUpstream, type SharedUpstreamOptions} from '../../../lib/upstream/share/shared-upstream.js';
import {readableLog} from '../../helpers/pipeline.js';

export type Json = {readonly [key: string]: unknown};

/** One client of a shared server, in the hands of a test. */
export type Guest = {
	readonly endpoint: Endpoint;
	readonly origin: MessageOrigin;
	readonly heard: Json[];
	readonly texts: string[];
	readonly ended: Promise<Error | undefined>;
	/** Called with every message that it hears. */
	onHeard: (envelope: Envelope) => void;
	say(body: Json): void;
	sayText(text: string): void;
	/** Takes part in a handshake, as its pipeline would. */
	greet(capabilities?: Json): void;
};

export function join(upstream: SharedUpstream, label = 'client', onRenewed?: (result: Json) => void): Guest {
	const endpoint = upstream.attach(label, onRenewed);
	const origin: MessageOrigin = {name: label, valve: new Valve()};
	const heard: Json[] = [];
	const texts: string[] = [];
	const sayText = (text: string): void =>
		endpoint.outgoing.next(Envelope.received(Buffer.from(`${text}\n`), origin));
	const say = (body: Json): void => sayText(JSON.stringify({jsonrpc: '2.0', ...body}));
	const guest: Guest = {
		endpoint,
		origin,
		heard,
		texts,
		onHeard: () => {},
		ended: new Promise(resolve => {
			endpoint.incoming.subscribe({
				next(envelope) {
					heard.push(envelope.body);
					texts.push(envelope.bytes.toString());
					guest.onHeard(envelope);
				},
				error: resolve,
				complete: () => resolve(undefined),
			});
		}),
		say,
		sayText,
		greet(capabilities = {}) {
			const params = {protocolVersion: '2025-11-25', capabilities, clientInfo: {name: label, version: '1'}};
			say({id: 'init', method: 'initialize', params});
			say({method: 'notifications/initialized'});
			// What a test looks at comes after that.
			if (heard.at(-1)?.id === 'init') {
				heard.pop();
				texts.pop();
			}
		},
	};
	return guest;
}

export const RESULT =
	'{"protocolVersion": "2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"files","version":"1.0"}}';

/** A shared server that is in the hands of a test, however often it is started. */
export function share(t: ExecutionContext, options: Partial<SharedUpstreamOptions> = {}) {
	const {log, entries} = readableLog();
	const servers: MemoryEndpoint[] = [];
	const upstream = new SharedUpstream({
		name: 'files',
		log,
		backoff: {firstMs: 1, maxMs: 4, stableAfterMs: 30_000},
		open() {
			const server = memoryEndpoint('files');
			servers.push(server);
			return server;
		},
		...options,
	});
	t.teardown(() => upstream.close());
	/** The server as it is now. */
	const server = (): MemoryEndpoint => {
		const last = servers.at(-1);
		if (!last) throw new Error('The server was never started.');
		return last;
	};
	/** The server answers the one handshake. */
	const ready = (result = RESULT): void =>
		server().sendText(`{"jsonrpc":"2.0","id":"bridge-initialize","result":${result}}`);
	/** The last request or notification of this method that the server has heard. */
	const told = (method: string): Json => {
		const found = server().received.findLast(body => body.method === method);
		if (!found) throw new Error(`The server has heard no ${method}.`);
		return found;
	};
	const toldAll = (method: string): Json[] => server().received.filter(body => body.method === method);
	const logged = async (event: string) => (await entries()).filter(entry => entry.event === event);
	return {
		upstream,
		servers,
		server,
		ready,
		told,
		toldAll,
		logged,
		join: (label?: string, onRenewed?: (result: Json) => void) => join(upstream, label, onRenewed),
	};
}

/** The same with clients that have shaken hands, each with what it can do. */
export function sharing(t: ExecutionContext, ...capabilities: Json[]) {
	const shared = share(t);
	const guests = capabilities.map((can, at) => {
		const guest = shared.join(`client ${at}`);
		if (at === 0) shared.ready();
		guest.greet(can);
		return guest;
	});
	const [a, b, c] = guests;
	if (!a) throw new Error('There is no client.');
	return {...shared, a, b: b ?? a, c: c ?? a};
}
