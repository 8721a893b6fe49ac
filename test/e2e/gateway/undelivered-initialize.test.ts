import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {createConnection, type Socket} from 'node:net';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {newFolder, newMarker, processesWith, until} from '../../helpers/program.js';
import {common, initialize, request} from '../../helpers/raw-requests.js';
import {startUpstream} from '../../helpers/upstream.js';

const MANY = 12;

/** Opens a connection and sends these bytes. */
async function openAndSend(gateway: RunningGateway, bytes: string): Promise<Socket> {
	const socket = createConnection(gateway.port, '127.0.0.1').on('error', () => {});
	await once(socket, 'connect');
	await new Promise(resolve => socket.write(bytes, resolve));
	return socket;
}

const sessionsAt = async (gateway: RunningGateway): Promise<number> =>
	JSON.parse((await gateway.fetch('/status')).text).sessions;

/** Starts a gateway with a service whose processes can be counted. */
async function startCounted(t: ExecutionContext, server = 'puppet', ...args: string[]) {
	const marker = newMarker(t);
	const gateway = await startGateway(
		t,
		{servers: {puppet: program(server, marker, ...args)}},
		{args: ['--log-level', 'info']},
	);
	const isEmpty = async (): Promise<boolean> =>
		(await sessionsAt(gateway)) === 0 && processesWith(marker).length === gatewayProcesses;
	const gatewayProcesses = processesWith(marker).length;
	return {gateway, marker, isEmpty, gatewayProcesses};
}

const post = (body: string, headers: readonly string[] = common): string =>
	request('POST /mcp/puppet', headers, body);

for (const [kind, headers] of [
	['JSON or SSE', common],
	['SSE only', ['Content-Type: application/json', 'Accept: text/event-stream']],
] as const)
	test.serial(
		`ends sessions and children whose clients reset the connection during initialize: ${kind} [SEC-D16]`,
		async t => {
			const file = join(await newFolder(t), 'respond');
			const {gateway, marker, isEmpty, gatewayProcesses} = await startCounted(t, 'shop', `--until=${file}`);
			const sockets = await Promise.all(
				Array.from({length: MANY}, () => openAndSend(gateway, post(initialize, headers))),
			);
			await until(() => processesWith(marker).length > gatewayProcesses);
			for (const socket of sockets) socket.resetAndDestroy();
			await until(isEmpty);
			await gateway.running.says(/"event":"session\.undelivered"/);
			writeFileSync(file, '');
			t.is((await gateway.open('puppet')).service, 'puppet');
		},
	);

test.serial(
	'keeps a session whose connection is reset after the response to initialize [SEC-D16]',
	async t => {
		const {gateway} = await startCounted(t);
		const keepAlive = post(initialize).replace('Connection: close', 'Connection: keep-alive');
		const socket = await openAndSend(gateway, keepAlive);
		await once(socket, 'readable');
		const [, id = ''] = /mcp-session-id: (\w+)/i.exec(String(socket.read())) ?? [];
		const closed = once(socket, 'close');
		// Load balancers reset connections to a gateway that they no longer need.
		socket.resetAndDestroy();
		await closed;
		const headers = {'mcp-session-id': id};
		await gateway.post('puppet', {method: 'notifications/initialized'}, headers);
		t.is((await gateway.post('puppet', {id: 2, method: 'pid'}, headers)).status, 200);
	},
);

test.serial('ends stateless conversations whose clients never got a response [SEC-D16]', async t => {
	const file = join(await newFolder(t), 'respond');
	const {gateway, marker, isEmpty, gatewayProcesses} = await startCounted(t, 'shop', `--until=${file}`);
	const meta = (at: number): object => ({
		'io.modelcontextprotocol/protocolVersion': '2026-07-28',
		'io.modelcontextprotocol/clientInfo': {name: `client ${at}`, version: '1'},
		'io.modelcontextprotocol/clientCapabilities': {},
	});
	const body = (at: number): string =>
		JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/list', params: {_meta: meta(at)}});
	const modern = [...common, 'MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: tools/list'];
	const sockets = await Promise.all(
		Array.from({length: MANY}, (_, at) => openAndSend(gateway, post(body(at), modern))),
	);
	await until(() => processesWith(marker).length > gatewayProcesses);
	for (const socket of sockets) socket.resetAndDestroy();
	await until(isEmpty);
	t.pass();
});

test.serial(
	'ends the session of an SSE or WebSocket connection that closes before its handshake [SEC-D16]',
	async t => {
		const {gateway, isEmpty} = await startCounted(t);
		const upgrade = [
			'Upgrade: websocket',
			'Connection: Upgrade',
			'Sec-WebSocket-Version: 13',
			'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
		];
		const opens = [
			request('GET /mcp/puppet/sse', ['Accept: text/event-stream']),
			`GET /mcp/puppet HTTP/1.1\r\nHost: localhost\r\n${upgrade.join('\r\n')}\r\n\r\n`,
		];
		for (const bytes of opens) {
			const sockets = await Promise.all(Array.from({length: MANY}, () => openAndSend(gateway, bytes)));
			await Promise.all(sockets.slice(1).map(socket => once(socket, 'readable')));
			for (const socket of sockets) socket.resetAndDestroy();
			await until(isEmpty);
		}
		t.pass();
	},
);

test.serial(
	'ends the session of an HTTP upstream when initialize could not be delivered [SEC-D16]',
	async t => {
		const upstream = await startUpstream(t);
		upstream.mood = ({message}) => message.method === 'initialize';
		const gateway = await startGateway(t, {servers: {puppet: {url: upstream.url}}});
		const socket = await openAndSend(gateway, post(initialize));
		await until(() => upstream.met.some(({message}) => message.method === 'initialize'));
		t.is(await sessionsAt(gateway), 1);
		socket.resetAndDestroy();
		await until(async () => (await sessionsAt(gateway)) === 0);
	},
);
