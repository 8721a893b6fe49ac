import {once} from 'node:events';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {WebSocket} from 'ws';
import {connect, type Endpoint} from '../../../lib/core/stage.js';
import {sseClient} from '../../../lib/transports/sse/sse-client.js';
import {SseSession} from '../../../lib/transports/sse/sse-session.js';
import {acceptWebSocket, webSocketEndpoint} from '../../../lib/transports/websocket/websocket.js';
import {webSocketClient} from '../../../lib/transports/websocket/websocket-client.js';
import {readableLog} from '../../helpers/pipeline.js';
import {get, portOf, serve, unchunked} from '../http-peers.js';
import {plain, upgrading} from '../websocket/websocket-peers.js';

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

/** A client that reads only when it is told to, and the ids of all messages when they are there. */
type Reader = {read(): void; readonly ids: Promise<number[]>};

/** The ids of messages, each of which has to be whole. */
const idsIn = (texts: readonly string[]): number[] =>
	texts.map(text => Number(/"id":(\d+)/.exec(text)?.[1])).filter((id, at) => texts[at] === message(id));

async function readOverSse(t: ExecutionContext, join: (client: Endpoint) => void): Promise<Reader> {
	const {log} = readableLog();
	const server = await serve(t, (_request, response) => {
		join(new SseSession(response, {name: 'client', path: '/', log}));
	});
	const client = get(t, server);
	client.pause();
	const isLast = (chunk: Buffer): boolean => chunk.includes(`"id":${COUNT - 1},`);
	const ids = new Promise<number[]>(resolve => {
		let isEnding = false;
		client.on('data', chunk => {
			isEnding ||= isLast(chunk);
			if (!isEnding || !client.text().endsWith('\n\n\r\n')) return;
			const [, ...events] = unchunked(client.text()).split('event: message\ndata: ');
			resolve(idsIn(events.map(event => event.trimEnd())));
		});
	});
	return {read: () => client.resume(), ids};
}

async function readOverWebSocket(t: ExecutionContext, join: (client: Endpoint) => void): Promise<Reader> {
	const url = await upgrading(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => {
			if (accepted) join(webSocketEndpoint(accepted, {name: 'client'}));
		});
	});
	const client = await plain(t, url);
	client.pause();
	const texts: string[] = [];
	const ids = new Promise<number[]>(resolve => {
		client.on('message', data => {
			if (texts.push(String(data)) === COUNT) resolve(idsIn(texts));
		});
	});
	return {read: () => client.resume(), ids};
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
			`64 MiB from a server over ${from} wait there for a client over ${to} that does not read, and arrive when it does [F1]`,
			async t => {
				const flood = await (from === 'sse' ? floodOverSse(t) : floodOverWebSocket(t));
				const options = {name: 'remote', url: flood.url, log: readableLog().log};
				const upstream = from === 'sse' ? sseClient(options) : webSocketClient(options);
				t.teardown(() => upstream.close());
				const join = (client: Endpoint): void => {
					connect(client, [], upstream);
				};
				const reader = await (to === 'sse' ? readOverSse(t, join) : readOverWebSocket(t, join));
				await stalled(flood);
				t.true(flood.sent < COUNT / 3, `${flood.sent} messages of ${SIZE} bytes were let in`);
				reader.read();
				t.deepEqual(
					await reader.ids,
					Array.from({length: COUNT}, (_, id) => id),
				);
			},
		);
