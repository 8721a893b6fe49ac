import type {ExecutionContext} from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {type MemoryEndpoint, memoryEndpoint} from '../../../lib/core/memory-endpoint.js';
import type {Endpoint} from '../../../lib/core/stage.js';
import {Valve} from '../../../lib/core/valve.js';
import {SharedUpstream, type SharedUpstreamOptions} from '../../../lib/upstream/share/shared-upstream.js';
import {readableLog} from '../../helpers/pipeline.js';

export type Json = {readonly [key: string]: unknown};

/** A client of a shared upstream that a test controls. */
export type TestClient = {
	readonly endpoint: Endpoint;
	readonly origin: MessageOrigin;
	readonly received: Json[];
	readonly texts: string[];
	readonly ended: Promise<Error | undefined>;
	/** Called with every message that the client receives. */
	onMessage: (envelope: Envelope) => void;
	send(body: Json): void;
	sendText(text: string): void;
	/** Sends the messages of a handshake. */
	initialize(capabilities?: Json): void;
};

export function join(
	upstream: SharedUpstream,
	label = 'client',
	onReinitialized?: (result: Json) => void,
): TestClient {
	const endpoint = upstream.attach(label, onReinitialized);
	const origin: MessageOrigin = {name: label, valve: new Valve()};
	const received: Json[] = [];
	const texts: string[] = [];
	const sendText = (text: string): void =>
		endpoint.outgoing.next(Envelope.received(Buffer.from(`${text}\n`), origin));
	const send = (body: Json): void => sendText(JSON.stringify({jsonrpc: '2.0', ...body}));
	const client: TestClient = {
		endpoint,
		origin,
		received,
		texts,
		onMessage: () => {},
		ended: new Promise(resolve => {
			endpoint.incoming.subscribe({
				next(envelope) {
					received.push(envelope.body);
					texts.push(envelope.bytes.toString());
					client.onMessage(envelope);
				},
				error: resolve,
				complete: () => resolve(undefined),
			});
		}),
		send,
		sendText,
		initialize(capabilities = {}) {
			const params = {protocolVersion: '2025-11-25', capabilities, clientInfo: {name: label, version: '1'}};
			send({id: 'init', method: 'initialize', params});
			send({method: 'notifications/initialized'});
			// Tests check only the messages after the handshake.
			if (received.at(-1)?.id === 'init') {
				received.pop();
				texts.pop();
			}
		},
	};
	return client;
}

export const RESULT =
	'{"protocolVersion": "2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"files","version":"1.0"}}';

/** A shared upstream that a test controls, including its restarts. */
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
	/** The current process of the upstream. */
	const server = (): MemoryEndpoint => {
		const last = servers.at(-1);
		if (!last) throw new Error('The server was never started.');
		return last;
	};
	/** Responds to the one handshake. */
	const ready = (result = RESULT): void =>
		server().sendText(`{"jsonrpc":"2.0","id":"bridge-initialize","result":${result}}`);
	/** The last message of this method that the upstream has received. */
	const lastReceived = (method: string): Json => {
		const found = server().received.findLast(body => body.method === method);
		if (!found) throw new Error(`The server has received no ${method}.`);
		return found;
	};
	const allReceived = (method: string): Json[] => server().received.filter(body => body.method === method);
	const logged = async (event: string) => (await entries()).filter(entry => entry.event === event);
	return {
		upstream,
		servers,
		server,
		ready,
		lastReceived,
		allReceived,
		logged,
		join: (label?: string, onReinitialized?: (result: Json) => void) =>
			join(upstream, label, onReinitialized),
	};
}

/** A shared upstream with initialized clients, one for each set of capabilities. */
export function shareWithClients(t: ExecutionContext, ...capabilities: Json[]) {
	const shared = share(t);
	const clients = capabilities.map((own, at) => {
		const client = shared.join(`client ${at}`);
		if (at === 0) shared.ready();
		client.initialize(own);
		return client;
	});
	const [a, b, c] = clients;
	if (!a) throw new Error('There is no client.');
	return {...shared, a, b: b ?? a, c: c ?? a};
}
