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
import {connectPlain, startUpgradeServer} from '../websocket/websocket-peers.js';

const SIZE = 64 * 1024;
const COUNT = 1024;
const body = 'x'.repeat(SIZE);
const message = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":"${body}"}`;

/** The number of messages that a server has sent. It sends the next one when the last is written. */
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
	const url = await startUpgradeServer(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => accepted && pump(accepted));
	});
	const flood: Flood = {url, sent: 0};
	return flood;
}

/** A client that starts to read on `read()`. `ids` resolves to the ids of all messages. */
type Reader = {read(): void; readonly ids: Promise<number[]>};

/** The ids of the intact messages. */
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
	const url = await startUpgradeServer(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => {
			if (accepted) join(webSocketEndpoint(accepted, {name: 'client'}));
		});
	});
	const client = await connectPlain(t, url);
	client.pause();
	const texts: string[] = [];
	const ids = new Promise<number[]>(resolve => {
		client.on('message', data => {
			if (texts.push(String(data)) === COUNT) resolve(idsIn(texts));
		});
	});
	return {read: () => client.resume(), ids};
}

/** Waits until the flood has stalled. On a slow machine, fewer messages may be sent before that. */
async function waitForStall(flood: Flood): Promise<void> {
	for (let [previous, stable] = [-1, 0]; stable < 50; await sleep(2)) {
		stable = flood.sent > 0 && previous === flood.sent ? stable + 1 : 0;
		previous = flood.sent;
	}
}

for (const from of ['sse', 'ws'] as const)
	for (const to of ['sse', 'ws'] as const)
		test.serial(
			`applies backpressure to an upstream over ${from} while a client over ${to} does not read 64 MiB, and delivers all later [F1]`,
			async t => {
				const flood = await (from === 'sse' ? floodOverSse(t) : floodOverWebSocket(t));
				const options = {name: 'remote', url: flood.url, log: readableLog().log};
				const upstream = from === 'sse' ? sseClient(options) : webSocketClient(options);
				t.teardown(() => upstream.close());
				const join = (client: Endpoint): void => {
					connect(client, [], upstream);
				};
				const reader = await (to === 'sse' ? readOverSse(t, join) : readOverWebSocket(t, join));
				await waitForStall(flood);
				t.true(flood.sent < COUNT / 3, `${flood.sent} messages of ${SIZE} bytes were read`);
				reader.read();
				t.deepEqual(
					await reader.ids,
					Array.from({length: COUNT}, (_, id) => id),
				);
			},
		);
