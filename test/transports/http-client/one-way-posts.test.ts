import type {ServerResponse} from 'node:http';
import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {httpClient} from '../../../lib/transports/http-client/http-client.js';
import {readableLog, until} from '../../helpers/pipeline.js';
import {bodyOf, portOf, serve} from '../http-peers.js';

const notice = (bytes: number, valve: Valve): Envelope =>
	Envelope.of(
		{jsonrpc: '2.0', method: 'notifications/a', params: {text: 'x'.repeat(bytes)}},
		{name: 'client', valve},
	);

test('applies backpressure to a client while 8 MiB of notifications are pending [SEC-D5]', async t => {
	const pendingResponses: ServerResponse[] = [];
	const server = await serve(t, async (request, response) => {
		await bodyOf(request);
		pendingResponses.push(response);
	});
	const {log} = readableLog();
	const client = httpClient({name: 'server', url: new URL(`http://127.0.0.1:${portOf(server)}/`), log});
	const [valve, other] = [new Valve(), new Valve()];
	for (let count = 0; count < 7; count++) client.outgoing.next(notice(2 ** 20, valve));
	t.true(valve.isOpen);
	client.outgoing.next(notice(2 ** 20, valve));
	t.false(valve.isOpen);
	client.outgoing.next(notice(1, other));
	t.false(other.isOpen);
	await until(() => pendingResponses.length === 9);
	t.false(valve.isOpen);
	for (const response of pendingResponses) response.writeHead(202).end();
	await until(() => valve.isOpen && other.isOpen);
	await client.close();
});

test('applies backpressure to a client while 1000 small notifications are pending [SEC-D5]', async t => {
	const server = await serve(t);
	const {log} = readableLog();
	const url = new URL(`http://127.0.0.1:${portOf(server)}/`);
	const client = httpClient({name: 'server', url, log, oneWayTimeoutMs: 1});
	const valve = new Valve();
	for (let count = 0; count < 999; count++) client.outgoing.next(notice(1, valve));
	t.true(valve.isOpen);
	client.outgoing.next(notice(1, valve));
	t.false(valve.isOpen);
	// The valve opens when the first POSTs time out.
	await until(() => valve.isOpen);
	await client.close();
});

test('aborts and logs the POST of a notification that times out [SEC-D5]', async t => {
	let [begun, closed] = [0, 0];
	const server = await serve(t, (request, response) => {
		request.on('error', () => {}).resume();
		begun++;
		response.on('close', () => closed++);
	});
	const {log, entries} = readableLog();
	const url = new URL(`http://127.0.0.1:${portOf(server)}/`);
	const client = httpClient({name: 'server', url, log, oneWayTimeoutMs: 500});
	const valve = new Valve();
	client.outgoing.next(notice(9 * 2 ** 20, valve));
	t.false(valve.isOpen);
	// On a busy machine, the POST may time out before the server receives it.
	await until(() => valve.isOpen && closed === begun);
	t.like(
		(await entries()).find(({event}) => event === 'http.not_taken'),
		{
			msg: 'server did not accept notifications/a.',
			reason: 'no response within 500 ms',
		},
	);
	await client.close();
});
