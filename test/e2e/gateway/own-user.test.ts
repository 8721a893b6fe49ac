import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import type {Running} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {logged, newMarker, processesWith, until} from '../../helpers/program.js';
import {initialize, post, request, sessionsOf, statusesIn, statusOf} from '../../helpers/raw-requests.js';
import {startRaw} from '../raw/support.js';
import {dial, exchange} from '../raw/tcp.js';

/**
 * Sends bytes and closes the socket before bridge accepts the connection. Linux then lists the socket
 * with uid 0, like one of root.
 */
async function sendAndClose(
	t: ExecutionContext,
	running: Running,
	port: number,
	bytes: string,
): Promise<void> {
	running.child.kill('SIGSTOP');
	t.teardown(() => running.child.kill('SIGCONT'));
	const socket: Socket = connect(port, '127.0.0.1');
	await once(socket, 'connect');
	await new Promise<void>(resolve => socket.write(bytes, () => resolve()));
	socket.destroy();
	await once(socket, 'close');
	running.child.kill('SIGCONT');
}

const isRejected = (running: Running): boolean =>
	logged(running, 'http.peer_rejected').some(({msg}) =>
		/closed its connection|could not be found/.test(String(msg)),
	);

test('a client that sends initialize and closes its socket at once starts nothing [SEC-D3] [SEC-D19]', async t => {
	const marker = newMarker(t);
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', marker)}});
	await sendAndClose(t, gateway.running, gateway.port, post());
	await until(() => isRejected(gateway.running));
	t.is(await sessionsOf(gateway, 'puppet'), 0);
	t.deepEqual(processesWith(marker), []);
});

test('a client that calls add-port-rule and closes its socket at once adds no rule [SEC-D3]', async t => {
	const {running, endpoint} = await startRaw(t, ['--mcp-port', '0']);
	const port = await freePort();
	const rule = {local_port: port, target_host: '127.0.0.1', target_port: 9};
	const body = JSON.stringify({
		jsonrpc: '2.0',
		id: 1,
		method: 'tools/call',
		params: {name: 'add-port-rule', arguments: rule},
	});
	const bytes = request('POST /mcp', ['Content-Type: application/json'], body);
	await sendAndClose(t, running, Number(new URL(endpoint).port), bytes);
	await until(() => isRejected(running));
	await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
});

for (const listen of ['127.0.0.1:0', 'localhost:0', '[::1]:0'])
	test(`serves the same user on ${listen}, on every connection and request [SEC-D19]`, async t => {
		const gateway = await startGateway(t, {listen, servers: {puppet: program('puppet')}});
		const session = await gateway.open('puppet');
		t.like(await session.request(1, 'ping'), {id: 1});
		const many = Array.from({length: 50}, () => gateway.raw(request('GET /status')));
		for (const text of await Promise.all(many)) t.is(statusOf(text), 200);
	});

test('responds in order to requests that arrive before the user is known [SEC-D19]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const pipelined = ['/status', '/nothing', '/readyz'].map(
		path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
	);
	const text = await gateway.raw(...pipelined, request('POST /mcp/puppet', ['Accept: */*'], initialize));
	t.deepEqual(statusesIn(text), [200, 404, 200, 415]);
});

test('a client that sends its request and then only reads gets the response [SEC-D19]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	t.is(statusOf(String((await exchange(gateway.port, request('GET /status'))).reply)), 200);
});
