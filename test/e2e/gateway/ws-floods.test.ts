import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {type AddressInfo, createConnection, createServer, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import {opening} from '../../helpers/bridge.js';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {peakMiB, until} from '../../helpers/program.js';

const MIB = 2 ** 20;
/** More bytes than all buffers on the path take. */
const FLOOD_BYTES = 24 * MIB;
/** Without limits, memory grew by 80 bytes per byte that was sent. */
const MAX_GROWTH_MIB = 150;

/** A block of repeated frames: masked as of a client, or unmasked as of a server. */
const frames = (first: number, isMasked: boolean, payload = 0): Buffer => {
	const head = isMasked ? [first, 0x80 + payload, 0, 0, 0, 0] : [first, payload];
	const frame = Buffer.concat([Buffer.from(head), Buffer.alloc(payload, 'x')]);
	return Buffer.concat(Array.from({length: Math.ceil(65_536 / frame.length)}, () => frame));
};

/** Writes until all is sent or the connection closes, without reading. Resolves with whether it was closed. */
async function flood(socket: Socket, chunk: Buffer): Promise<boolean> {
	socket.pause();
	const closed = new Promise<boolean>(resolve => void socket.once('close', () => resolve(true)));
	const drained = (): Promise<boolean> =>
		new Promise(resolve => void socket.once('drain', () => resolve(false)));
	for (let sent = 0; sent < FLOOD_BYTES && !socket.destroyed; sent += chunk.length)
		if (!socket.write(chunk)) await Promise.race([drained(), closed]);
	return socket.destroyed;
}

async function openUpgraded(t: ExecutionContext, gateway: RunningGateway): Promise<Socket> {
	const socket = createConnection(gateway.port, '127.0.0.1').on('error', () => {});
	t.teardown(() => socket.destroy());
	const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
	socket.write(
		`GET /mcp/puppet HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n\r\n`,
	);
	const [head] = (await once(socket, 'data')) as [Buffer];
	t.regex(String(head), /^HTTP\/1\.1 101 /);
	return socket;
}

const kinds: ReadonlyArray<readonly [string, number, number]> = [
	['empty pings', 0x89, 0],
	['long pings', 0x89, 125],
	['pongs', 0x8a, 0],
	['empty messages', 0x81, 0],
];

for (const [name, first, payload] of kinds)
	test.serial(
		`disconnects a WebSocket client that floods with ${name} and reads nothing [SEC-D4]`,
		async t => {
			const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
			const other = await gateway.open('puppet');
			const socket = await openUpgraded(t, gateway);
			const before = peakMiB(gateway.running.pid);
			const flooding = flood(socket, frames(first, true, payload));
			t.is((await other.post({id: 1, method: 'pid'})).status, 200);
			t.true(await flooding, 'the connection closes before everything is sent');
			await gateway.running.says(/"event":"ws\.flood".*more than 100 pings/);
			t.is((await other.post({id: 2, method: 'pid'})).status, 200);
			const growth = peakMiB(gateway.running.pid) - before;
			t.true(growth < MAX_GROWTH_MIB, `${growth} MiB`);
		},
	);

test.serial('disconnects a WebSocket client that sends endless fragments [SEC-D4]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const socket = await openUpgraded(t, gateway);
	const before = peakMiB(gateway.running.pid);
	socket.write(Buffer.from([0x01, 0x80, 0, 0, 0, 0]));
	const closed = new Promise(resolve => void socket.once('close', resolve));
	await flood(socket, frames(0x00, true));
	await gateway.running.says(/"event":"ws\.flood".*too many fragments/);
	socket.resume();
	await closed;
	const growth = peakMiB(gateway.running.pid) - before;
	t.true(growth < MAX_GROWTH_MIB, `${growth} MiB`);
});

test.serial('disconnects a ws:// upstream that floods with pings and reads nothing [SEC-D4]', async t => {
	let flooding: Promise<boolean> | undefined;
	const server = createServer(socket => {
		socket.on('error', () => {});
		t.teardown(() => socket.destroy());
		socket.once('data', (head: Buffer) => {
			const key = /sec-websocket-key: (\S+)/i.exec(String(head))?.[1];
			const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
			const common = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: mcp';
			socket.write(
				`HTTP/1.1 101 Switching Protocols\r\n${common}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
			);
			flooding ??= flood(socket, frames(0x89, false));
		});
	}).listen(0, '127.0.0.1');
	t.teardown(() => server.close());
	await once(server, 'listening');
	const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	const gateway = await startGateway(t, {servers: {puppet: program('puppet'), bad: {url}}});
	const other = await gateway.open('puppet');
	const before = peakMiB(gateway.running.pid);
	const pending = gateway
		.post('bad', {id: 1, method: 'initialize', params: opening})
		.catch(error => error as unknown);
	await until(() => flooding !== undefined);
	t.is((await other.post({id: 1, method: 'pid'})).status, 200);
	t.true(await flooding);
	await gateway.running.says(/it sent more than 100 pings/);
	const growth = peakMiB(gateway.running.pid) - before;
	t.true(growth < MAX_GROWTH_MIB, `${growth} MiB`);
	server.close();
	await gateway.stop();
	await pending;
});

test.serial(
	'replies to pings within the limit and closes with 1008 and the reason beyond it [SEC-D4]',
	async t => {
		const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
		const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/mcp/puppet`, ['mcp']);
		t.teardown(() => socket.terminate());
		await once(socket, 'open');
		for (let at = 0; at < 20; at++) {
			const pong = once(socket, 'pong');
			socket.ping(`${at}`);
			t.is(String((await pong)[0]), `${at}`);
		}
		const closed = once(socket, 'close');
		// More than the limit, even if the first pings took longer than the 10 s window.
		for (let at = 0; at < 300; at++) socket.ping();
		const [code, reason] = (await closed) as [number, Buffer];
		t.is(code, 1008);
		t.is(String(reason), 'more than 100 pings, pongs and empty messages in 10 s');
	},
);
