import test from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {heldHeap} from '../wire/heap.js';
import {initialize, initialized, receivedUpstream, result, start} from './queue-until-ready-support.js';

/* Memory limits before the handshake. */

const KiB = 2 ** 10;
const MiB = 2 ** 20;

const notification = (bytes: number) => ({method: 'notifications/x', params: {text: 'x'.repeat(bytes)}});

test('initializes the upstream when a client sends only notifications [SEC-D5]', t => {
	const ends = start();
	ends.client.send(notification(30 * KiB));
	ends.client.send(notification(30 * KiB));
	t.deepEqual(receivedUpstream(ends), []);
	ends.client.send(notification(30 * KiB));
	t.like(ends.upstream.received, [{method: 'initialize'}]);
	ends.upstream.send({id: ends.upstream.received[0]?.id, result});
	t.deepEqual(receivedUpstream(ends).slice(1), [initialized.method, ...Array(3).fill('notifications/x')]);
	initialize(ends);
	t.like(ends.client.received, [{id: 0, result: {serverInfo: result.serverInfo}}]);
});

test('does not initialize because of a long request before initialize', t => {
	const ends = start();
	ends.client.send({id: 'a', method: 'tools/call', params: {text: 'x'.repeat(100 * KiB)}});
	t.deepEqual(receivedUpstream(ends), []);
	initialize(ends);
	t.deepEqual(receivedUpstream(ends), ['initialize 0']);
});

test('fails each queued request with the start of a long error of the upstream [SEC-D5]', t => {
	const ends = start();
	initialize(ends);
	for (let id = 1; id <= 1000; id++) ends.client.send({id, method: 'a'});
	ends.upstream.send({id: 0, error: {code: 5, message: `Because ${'x'.repeat(MiB)}`}});
	const failures = ends.client.received.slice(1);
	t.is(failures.length, 1000);
	const message = String(objectOf(failures[0]?.error).message);
	t.regex(message, /^files rejected initialize: Because xxx/);
	t.true(message.length < 3000);
});

test('does not parse queued requests [SEC-D5]', t => {
	const ends = start();
	initialize(ends);
	const list = Array.from({length: 50_000}, () => ({}));
	ends.client.send({id: 1, method: 'a', params: {list}});
	const before = heldHeap();
	for (let id = 2; id < 12; id++) ends.client.send({id, method: 'a', params: {list}});
	const retained = heldHeap() - before;
	t.true(retained < 4 * MiB, `${retained} bytes`);
});
