import {once} from 'node:events';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {WebSocket} from 'ws';
import {connect, type Endpoint} from '../../lib/stage.js';
import {sseClient} from '../../lib/transports/sse-client.js';
import {SseServer} from '../../lib/transports/sse-server.js';
import {acceptWebSocket, wsEndpoint} from '../../lib/transports/websocket.js';
import {wsClient} from '../../lib/transports/websocket-client.js';
import {readableLog, until} from '../operators/support.js';
import {get, portOf, serve, unchunked} from './http-peers.js';
import {plain, upgrading} from './websocket-peers.js';

const SIZE = 64 * 1024;
const COUNT = 1024;
const body = 'x'.repeat(SIZE);
const message = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":"${body}"}`;

/** How many messages have left a server, which sends the next when the last is on its way. */
type Flood = {readonly url: URL; sent: number};

async function floodOverSse(t: ExecutionContext): Promise<Flood> {
	const server = await serve(t, async (_request, response) => {
		response.writeHead(200, {'content-type': 'text/event-stream'}).write('event: endpoint\ndata: /p\n\n');
		for (; flood.sent < COUNT; flood.sent++)
			if (!response.write(`data: ${message(flood.sent)}\n\n`)) await once(response, 'drain');
	});
	const flood: Flood = {url: new URL(`http://127.0.0.1:${portOf(server)}/`), sent: 0};
	return flood;
}

async function floodOverWebSocket(t: ExecutionContext): Promise<Flood> {
	const pump = async (socket: WebSocket): Promise<void> => {
		for (; flood.sent < COUNT; flood.sent++)
			await new Promise(resolve => socket.send(message(flood.sent), resolve));
	};
	const url = await upgrading(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => accepted && pump(accepted));
	});
	const flood: Flood = {url, sent: 0};
	return flood;
}

type Reader = {read(): void; ids(): number[]};

const idsIn = (texts: readonly string[]): number[] =>
	texts.filter(text => text.length === message(0).length - 1 + `${idOf(text)}`.length).map(idOf);
const idOf = (text: string): number => Number(/"id":(\d+)/.exec(text)?.[1]);

async function readOverSse(t: ExecutionContext, join: (client: Endpoint) => void): Promise<Reader> {
	const {log} = readableLog();
	const server = await serve(t, (_request, response) => {
		join(new SseServer(response, {name: 'client', path: '/', log}));
	});
	const client = get(t, server);
	client.pause();
	let isWhole = false;
	client.on('data', chunk => {
		isWhole = chunk.includes(`"id":${COUNT - 1},`) || isWhole;
	});
	const events = (): string[] => unchunked(client.text()).split('event: message\ndata: ').slice(1);
	return {
		read: () => client.resume(),
		ids: () => (isWhole ? idsIn(events().map(event => event.trimEnd())) : []),
	};
}

async function readOverWebSocket(t: ExecutionContext, join: (client: Endpoint) => void): Promise<Reader> {
	const url = await upgrading(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => {
			if (accepted) join(wsEndpoint(accepted, {name: 'client'}));
		});
	});
	const client = await plain(t, url);
	client.pause();
	const texts: string[] = [];
	client.on('message', data => texts.push(String(data)));
	return {read: () => client.resume(), ids: () => (texts.length === COUNT ? idsIn(texts) : [])};
}

/** Waits until nothing moves any more, or longer: a slow machine only makes less of it move. */
async function stalled(flood: Flood): Promise<void> {
	for (let [seen, calm] = [-1, 0]; calm < 50; await sleep(2)) {
		calm = flood.sent > 0 && seen === flood.sent ? calm + 1 : 0;
		seen = flood.sent;
	}
}

for (const from of ['sse', 'ws'] as const)
	for (const to of ['sse', 'ws'] as const)
		test.serial(
			`F1 64 MiB from a server over ${from} wait there for a client over ${to} that does not read, and arrive when it does`,
			async t => {
				const flood = await (from === 'sse' ? floodOverSse(t) : floodOverWebSocket(t));
				const options = {name: 'remote', url: flood.url, log: readableLog().log};
				const upstream = from === 'sse' ? sseClient(options) : wsClient(options);
				t.teardown(() => upstream.close());
				const join = (client: Endpoint): void => {
					connect(client, [], upstream);
				};
				const reader = await (to === 'sse' ? readOverSse(t, join) : readOverWebSocket(t, join));
				await stalled(flood);
				t.true(flood.sent < COUNT / 3, `${flood.sent} messages of ${SIZE} bytes were let in`);
				reader.read();
				await until(() => reader.ids().length === COUNT);
				t.deepEqual(
					reader.ids(),
					Array.from({length: COUNT}, (_, id) => id),
				);
			},
		);
