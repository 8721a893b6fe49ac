import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {startRaw} from '../e2e/raw/support.js';
import {program, startGateway} from '../helpers/gateway.js';
import {logged, newFolder, newMarker, processesWith, until} from '../helpers/program.js';
import {initialize, request, sessionsOf, statusOf} from '../helpers/raw-requests.js';
import {eventLine} from '../view/logs.js';
import {startView} from '../view/view.js';

/** The uid and gid of `nobody`. */
const OTHER = {uid: 65_534, gid: 65_534} as const;

const SEND = `
const {connect} = require('node:net');
const [port, host, bytes] = process.argv.slice(1);
const socket = connect(Number(port), host, () => socket.write(bytes));
socket.on('error', () => {}).pipe(process.stdout);
`;

/** Sends bytes as a user, and resolves to the whole response. */
async function sendAs(
	{uid, gid}: {readonly uid: number; readonly gid: number},
	port: number,
	bytes: string,
	host = '127.0.0.1',
): Promise<string> {
	const args = ['-e', SEND, '--', String(port), host, bytes];
	const child = spawn(process.execPath, args, {uid, gid, cwd: '/', stdio: ['ignore', 'pipe', 'inherit']});
	const chunks: Buffer[] = [];
	child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
	await once(child, 'close');
	return Buffer.concat(chunks).toString();
}

const json = 'Content-Type: application/json';
const upgrade = [
	'Upgrade: websocket',
	'Sec-WebSocket-Version: 13',
	'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

function isRejected(t: ExecutionContext, text: string): void {
	t.is(statusOf(text), 401, text);
	t.regex(text, /another user \(uid 65534\)/);
}

for (const [listen, host] of [
	['127.0.0.1:0', '127.0.0.1'],
	['127.0.0.1:0', '::ffff:127.0.0.1'],
	['[::1]:0', '::1'],
	['localhost:0', 'localhost'],
] as const)
	test(`a gateway on ${listen} rejects another user from ${host}, and starts nothing for it [SEC-D19]`, async t => {
		const marker = newMarker(t);
		const gateway = await startGateway(t, {listen, servers: {puppet: program('puppet', marker)}});
		const send = (bytes: string) => sendAs(OTHER, gateway.port, bytes, host);
		for (const path of ['/', '/status', '/metrics', '/readyz', '/traffic', '/view/rows', '/mcp/puppet/sse'])
			isRejected(t, await send(request(`GET ${path}`, ['Accept: text/event-stream'])));
		const rejected = await send(request('POST /mcp/puppet', [json], initialize));
		isRejected(t, rejected);
		t.regex(rejected, /set tokens in its configuration/);
		isRejected(
			t,
			await send(request('GET /mcp/puppet', upgrade).replace('Connection: close', 'Connection: Upgrade')),
		);
		t.is(statusOf(await send(request('GET /healthz'))), 200);
		t.is(await sessionsOf(gateway, 'puppet'), 0);
		t.deepEqual(processesWith(marker), []);
		await until(() => logged(gateway.running, 'http.peer_rejected').length > 0);
		t.is(statusOf(await sendAs({uid: 0, gid: 0}, gateway.port, request('GET /status'), host)), 200);
	});

test('accepts another user with a configured token [SEC-D19]', async t => {
	const token = 'a-token-of-some-length';
	const gateway = await startGateway(t, {tokens: [token], servers: {puppet: program('puppet')}});
	const send = (headers: string[]) => sendAs(OTHER, gateway.port, request('GET /status', headers));
	t.is(statusOf(await send([`X-Bridge-Token: ${token}`])), 200);
	t.is(statusOf(await send([])), 401);
});

test('bridge view rejects another user, even with the URL that it printed [SEC-D19]', async t => {
	const log = join(await newFolder(t), 'log.ndjson');
	writeFileSync(log, `${eventLine('open')}\n`);
	const {url} = await startView(t, log);
	const port = Number(url.port);
	isRejected(t, await sendAs(OTHER, port, request(`GET ${url.pathname}${url.search}`)));
	t.is(statusOf(await sendAs({uid: 0, gid: 0}, port, request(`GET ${url.pathname}${url.search}`))), 303);
});

for (const host of ['127.0.0.1', '::1'])
	test(`the control server of raw rejects another user from ${host}, and does nothing for it [SEC-D3]`, async t => {
		const folder = await newFolder(t);
		const {running, endpoint, lines} = await startRaw(t, ['--mcp-port', '0', '--flush-millis', '10']);
		const port = Number(new URL(endpoint).port);
		t.deepEqual(Object.keys(lines[0] ?? {}), ['time', 'event', 'endpoint']);
		const call = (name: string, args: object): string =>
			request(
				'POST /mcp',
				[json],
				JSON.stringify({
					jsonrpc: '2.0',
					id: 1,
					method: 'tools/call',
					params: {name, arguments: args},
				}),
			);
		isRejected(t, await sendAs(OTHER, port, call('start-logging', {directory: folder}), host));
		isRejected(t, await sendAs(OTHER, port, call('shutdown', {}), host));
		t.is(running.child.exitCode, null);
		t.is(
			statusOf(await sendAs({uid: 0, gid: 0}, port, call('start-logging', {directory: folder}), host)),
			200,
		);
		const started = (): number => running.lines.filter(line => line.includes(folder)).length;
		await until(() => started() > 0);
		t.is(started(), 1);
	});
