import {once} from 'node:events';
import {createConnection, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {listen} from '../../helpers/event-source.js';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, peakMiB, until} from '../../helpers/program.js';

const ROUNDS = 24;
const PER_ROUND = 64;

/** The server output of one round in base64: 1 MiB of numbered notifications. */
function notices(round: number): string {
	const lines = Array.from({length: PER_ROUND}, (_, at) =>
		JSON.stringify({
			jsonrpc: '2.0',
			method: 'notifications/message',
			params: {level: 'info', data: round * PER_ROUND + at, text: 'x'.repeat(16_000)},
		}),
	);
	return Buffer.from(`${lines.join('\n')}\n`).toString('base64');
}

/** A client that opens a stream and does not read from it. */
async function openUnread(
	t: ExecutionContext,
	gateway: RunningGateway,
	target: string,
	id?: string,
): Promise<Socket> {
	const socket = createConnection(gateway.port, '127.0.0.1').on('error', () => {});
	t.teardown(() => socket.destroy());
	await once(socket, 'connect');
	const session = id === undefined ? '' : `Mcp-Session-Id: ${id}\r\n`;
	socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n${session}\r\n`);
	await once(socket, 'readable');
	return socket;
}

test('disconnects only the stream that is not read, and the other misses no message [F3]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: {...program('puppet'), shared: true}}});
	const [speaker, good, bad] = [
		await gateway.open('puppet'),
		await gateway.open('puppet'),
		await gateway.open('puppet'),
	];
	const events = await listen(gateway, 'puppet', good.headers);
	await openUnread(t, gateway, '/mcp/puppet', bad.headers['mcp-session-id']);
	const before = peakMiB(gateway.running.pid);
	const received: unknown[] = [];
	for (let round = 0; round < ROUNDS; round++) {
		await speaker.post({method: 'raw', params: {base64: notices(round)}});
		while (received.length < (round + 1) * PER_ROUND)
			received.push(((await events.message()).params as {data: unknown}).data);
	}
	t.deepEqual(
		received,
		Array.from({length: ROUNDS * PER_ROUND}, (_, at) => at),
	);
	await until(() => logged(gateway.running, 'sse.slow_client').length > 0);
	t.is((await bad.post({id: 1, method: 'pid'})).status, 404, 'its session was ended');
	t.is((await good.post({id: 1, method: 'pid'})).status, 200);
	t.true(peakMiB(gateway.running.pid) - before < 150, `${peakMiB(gateway.running.pid)} after ${before}`);
	await events.stop();
});
