import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import type {Headers} from '../../lib/core/envelope.js';
import {connect, type Endpoint} from '../../lib/core/stage.js';
import {sseClient} from '../../lib/transports/sse/sse-client.js';
import {SseSession} from '../../lib/transports/sse/sse-session.js';
import {acceptWebSocket, webSocketEndpoint} from '../../lib/transports/websocket/websocket.js';
import {webSocketClient} from '../../lib/transports/websocket/websocket-client.js';
import {wrapStages} from '../../pipelines/wrap.js';
import {readableLog, until} from '../helpers/pipeline.js';
import {bodyOf} from '../transports/http-peers.js';
import {handshakeServer} from './eras.js';
import {peerUrl} from './peers.js';
import {newMarker} from './processes.js';
import {loadSdk, type SdkClient, type SdkTransport} from './sdk.js';

/* A real client and a real server of the SDK, with bridge's endpoints between them. */

type Kind = 'sse' | 'ws';
type Transport = new (url: URL) => SdkTransport;

/** Starts the server, and returns its process and URL. */
async function startServer(t: ExecutionContext, kind: Kind): Promise<{process: ChildProcess; url: URL}> {
	const {command, args, env} = handshakeServer('', {});
	const started = spawn(command, [args[0] ?? '', kind, '0', newMarker(t)], {
		env: {...process.env, ...env},
		stdio: ['ignore', 'ignore', 'pipe'],
	});
	t.teardown(() => started.kill('SIGKILL'));
	let text = '';
	started.stderr.on('data', chunk => {
		text += chunk;
	});
	await until(() => text.includes('\n'));
	const port = /listening (\d+)/.exec(text)?.[1];
	const url = kind === 'sse' ? `http://127.0.0.1:${port}/sse` : `ws://127.0.0.1:${port}/`;
	return {process: started, url: new URL(url)};
}

/** Starts bridge with clients of both kinds in front and a server of the given kind behind. */
async function startBridge(t: ExecutionContext, kind: Kind, upstreamUrl: URL): Promise<number> {
	const {log} = readableLog();
	const join = (client: Endpoint): void => {
		const options = {name: 'fixture', url: upstreamUrl, log};
		const upstream = kind === 'sse' ? sseClient(options) : webSocketClient(options);
		const connection = connect(
			client,
			wrapStages({log, upstream: 'fixture', transport: kind, timeoutMs: 0}),
			upstream,
		);
		const end = async (): Promise<void> => {
			connection.unsubscribe();
			await upstream.close();
		};
		t.teardown(end);
		void client.disconnected.then(end);
	};
	const sessions = new Map<string, SseSession>();
	const server = createServer(async (request, response) => {
		const {searchParams} = new URL(request.url ?? '', 'http://localhost');
		if (request.method === 'GET') {
			const client = new SseSession(response, {name: 'client', path: '/message', log});
			sessions.set(client.id, client);
			join(client);
			return;
		}
		const body = await bodyOf(request);
		sessions.get(searchParams.get('sessionId') ?? '')?.receive(body, request.headers as Headers);
		response.writeHead(202).end();
	});
	server.on('upgrade', (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => {
			if (accepted) join(webSocketEndpoint(accepted, {name: 'client'}));
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return (server.address() as AddressInfo).port;
}

/**
 * Starts a client that records the methods received by its transport, since the SDK drops progress that
 * arrives right before a response.
 */
async function startClient(
	t: ExecutionContext,
	kind: Kind,
	port: number,
): Promise<{client: SdkClient; methods: unknown[]}> {
	const {Client, schema} = await loadSdk();
	// The SDK's transport uses the global WebSocket, which Node 20 does not have.
	Object.assign(globalThis, {WebSocket});
	const file = kind === 'sse' ? 'client/sse.js' : 'client/websocket.js';
	const module: Record<string, Transport> = await import(
		peerUrl(`@modelcontextprotocol/sdk/dist/esm/${file}`).href
	);
	const Transport = module[kind === 'sse' ? 'SSEClientTransport' : 'WebSocketClientTransport'] as Transport;
	const client = new Client({name: 'test', version: '1'}, {capabilities: {sampling: {}}});
	client.setRequestHandler(schema('CreateMessageRequestSchema'), () => ({
		model: 'm',
		role: 'assistant',
		content: {type: 'text', text: 'from the client'},
	}));
	const url = kind === 'sse' ? `http://127.0.0.1:${port}/sse` : `ws://127.0.0.1:${port}/`;
	const transport = new Transport(new URL(url));
	await client.connect(transport);
	t.teardown(() => client.close());
	const methods: unknown[] = [];
	const {onmessage} = transport;
	transport.onmessage = message => {
		methods.push(Reflect.get(message as object, 'method'));
		onmessage?.(message);
	};
	return {client, methods};
}

const text = (result: unknown): string => JSON.stringify(result);

for (const from of ['sse', 'ws'] as const)
	for (const to of ['sse', 'ws'] as const) {
		test.serial(`connects a real client over ${from} to a real server over ${to}`, async t => {
			const {url} = await startServer(t, to);
			const {client, methods} = await startClient(t, from, await startBridge(t, to, url));
			t.like(client.getServerVersion(), {name: 'bridge-fixture'});
			t.regex(text(await client.listTools()), /bridge_echo/);
			const long = 'é\u2028'.repeat(500_000);
			const echo = await client.callTool({name: 'bridge_echo', arguments: {long}});
			t.true(text(echo).includes(long.slice(0, 1000)));
			t.true(text(echo).length > long.length);
			const sampled = await client.callTool({name: 'test_sampling', arguments: {prompt: 'x'}});
			t.regex(text(sampled), /from the client/);
			await client.callTool({name: 'test_tool_with_progress'}, undefined, {onprogress: () => {}});
			t.is(methods.filter(method => method === 'notifications/progress').length, 3);
			const all = Array.from({length: 50}, (_, n) => client.callTool({name: 'bridge_echo', arguments: {n}}));
			for (const [n, one] of (await Promise.all(all)).entries()) t.true(text(one).includes(`{\\"n\\":${n}}`));
		});

		test.serial(`a call over ${from} fails when its server over ${to} is killed [D8]`, async t => {
			const {process: server, url} = await startServer(t, to);
			const {client} = await startClient(t, from, await startBridge(t, to, url));
			const call = client.callTool({name: 'bridge_slow', arguments: {ms: 60_000}});
			const failed = t.throwsAsync(call, {message: /fixture/});
			await client.ping();
			server.kill('SIGKILL');
			t.is(Reflect.get((await failed) ?? {}, 'code'), -31_001);
			await t.throwsAsync(client.ping());
		});
	}
