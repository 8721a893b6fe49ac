import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {OwnerMap} from '../../../lib/upstream/share/owner-map.js';
import {ResourceSubscriptions} from '../../../lib/upstream/share/resource-subscriptions.js';
import {SharedServerRequests} from '../../../lib/upstream/share/shared-server-requests.js';
import {share, sharing} from './support.js';

const origin: MessageOrigin = {name: 'files', valve: new Valve()};

test('no more than so many questions are open', t => {
	const questions = new SharedServerRequests<string>();
	const question = Envelope.received(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'), origin);
	for (let at = 0; at < 10_000; at++) questions.add('ann', question);
	t.like(
		t.throws(() => questions.add('bob', question)),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.is(questions.removeClient('ann').length, 10_000);
	t.notThrows(() => questions.add('bob', question));
});

test('a server that asks too much hears so', t => {
	const {a, server} = sharing(t, {roots: {}});
	a.say({id: 1, method: 'x'});
	for (let id = 0; id <= 10_000; id++) server().send({id, method: 'roots/list'});
	t.is(a.heard.length, 10_000);
	t.like(server().received.at(-1), {id: 10_000, error: {code: -31_003}});
});

test('no more than so many resources are subscribed to', t => {
	const subscriptions = new ResourceSubscriptions<string>();
	for (let at = 0; at < 10_000; at++) subscriptions.add('ann', `file:///${at}`, () => {});
	t.like(
		t.throws(() => subscriptions.add('ann', 'file:///more', () => {})),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.notThrows(() => subscriptions.add('bob', 'file:///0', () => {}));
});

test('a client that does not read is ended alone, with a warning, and nobody else waits [F3]', async t => {
	const {join, ready, server, told, logged, upstream} = share(t, {maxUnreadBytes: 1000});
	const [slow, fast] = [join('slow'), join('fast')];
	ready();
	for (const guest of [slow, fast]) guest.greet();
	slow.say({id: 1, method: 'x'});
	const {id} = told('x');
	const shut: Array<() => void> = [];
	slow.onHeard = envelope => void shut.push(envelope.origin.valve.shut());
	for (let at = 0; at < 20; at++)
		server().send({method: 'notifications/message', params: {level: 'info', data: 'x'.repeat(100)}});
	t.is(fast.heard.length, 20);
	t.true(fast.origin.valve.isOpen && server().origin.valve.isOpen);
	t.like(await slow.ended, {code: 'ERR_SESSION_STALLED'});
	await slow.endpoint.disconnected;
	t.is(slow.heard.length, 1);
	t.is(upstream.state.clients, 1);
	t.like(told('notifications/cancelled').params, {requestId: Number(id)});
	t.like(await logged('sse.slow_client'), [{client: 'slow', server: 'files'}]);
	t.true(slow.origin.valve.isOpen, 'nothing that it says is held back any longer');
});

test('a client that does not read is not read, until it does [F1]', t => {
	const {a, server, told} = sharing(t, {});
	a.say({id: 1, method: 'x'});
	let open: (() => void) | undefined;
	a.onHeard = envelope => {
		open ??= envelope.origin.valve.shut();
	};
	const {id} = told('x');
	server().send({method: 'notifications/odd'});
	t.true(a.origin.valve.isOpen);
	server().send({id, result: {}});
	t.false(a.origin.valve.isOpen);
	t.is(a.heard.length, 1);
	open?.();
	t.true(a.origin.valve.isOpen);
	t.is(a.heard.length, 2);
});

test('what goes wrong behind one client ends that one alone', async t => {
	const {a, b, server, logged} = sharing(t, {}, {});
	a.endpoint.outgoing.error(new Error('The client broke.'));
	t.is(await a.ended, undefined);
	server().send({method: 'notifications/odd'});
	t.is(b.heard.length, 1);
	t.deepEqual(await logged('bug'), []);
});

test('rejects a server request whose id is too long to be kept [SEC-D5]', t => {
	const {a, server} = sharing(t, {roots: {}});
	a.say({id: 1, method: 'x'});
	const id = 'i'.repeat(5000);
	server().send({id, method: 'roots/list'});
	t.is(a.heard.length, 0);
	t.like(server().received.at(-1), {id, error: {data: {limit: 4096}}});
	server().send({id: 'i'.repeat(4000), method: 'roots/list'});
	t.is(a.heard.length, 1);
});

test('rejects a request of a client whose id or method is too long to be kept [SEC-D5]', t => {
	const {a, toldAll} = sharing(t, {});
	const id = 'i'.repeat(5000);
	a.say({id, method: 'x'});
	t.like(a.heard.at(-1), {id, error: {data: {limit: 4096}}});
	a.say({id: 1, method: 'x'.repeat(5000)});
	t.like(a.heard.at(-1), {id: 1, error: {data: {limit: 4096}}});
	a.say({id: 2, method: 'x'});
	t.is(toldAll('x').length, 1);
});

test('cancels a server request by any spelling of its id, and others keep theirs [SEC-D11]', t => {
	const questions = new SharedServerRequests<string>();
	const ask = (id: string) =>
		questions.add('ann', Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"method":"roots/list"}`, origin));
	const [one, other] = [ask('"a"'), ask('"b"')];
	t.is(questions.cancel('"\\u0061"'), one);
	t.is(questions.cancel('"a"'), undefined);
	t.is(questions.take('ann', other.clientSideId), other);
	t.is(questions.cancel('"b"'), undefined);
});

test('keeps long names of tasks as short keys [SEC-D5]', t => {
	const owners = new OwnerMap<string>();
	const name = 'n'.repeat(100_000);
	owners.set(name, 'ann');
	owners.set({toString: 'bob'}, 'bob');
	t.is(owners.get(name), 'ann');
	t.is(owners.get(`${name}n`), undefined);
	const keys = [...owners.keys()];
	t.is(keys.length, 1);
	t.true(String(keys[0]).length < 100);
});

test('rejects a second subscription of a client while the first has no response [SEC-D5]', t => {
	const {a, b, server, told} = sharing(t, {}, {});
	const params = {uri: 'file:///a'};
	a.say({id: 1, method: 'resources/subscribe', params});
	for (let id = 2; id < 5; id++) a.say({id, method: 'resources/subscribe', params});
	b.say({id: 1, method: 'resources/subscribe', params});
	t.deepEqual(
		a.heard.map(({id}) => id),
		[2, 3, 4],
	);
	t.like(a.heard[0], {error: {code: -31_003}});
	t.is(b.heard.length, 0);
	server().send({id: told('resources/subscribe').id, result: {}});
	t.like(a.heard.at(-1), {id: 1, result: {}});
	t.like(b.heard, [{id: 1, result: {}}]);
	a.say({id: 5, method: 'resources/subscribe', params});
	t.like(a.heard.at(-1), {id: 5, result: {}});
});

test('does not keep what a client waited for that has left [SEC-D5]', t => {
	const subscriptions = new ResourceSubscriptions<string>();
	const added = subscriptions.add('ann', 'file:///a', () => {});
	for (let at = 0; at < 100; at++) {
		subscriptions.add(`guest ${at}`, 'file:///a', () => t.fail());
		t.deepEqual(subscriptions.removeClient(`guest ${at}`), []);
	}
	t.is(added?.pending.size, 1);
	subscriptions.removeClient('ann');
	t.deepEqual(subscriptions.uris, []);
});

test('truncates the error of a server that rejects the handshake, before each waiting request gets it [SEC-D5]', t => {
	const {join, server} = share(t);
	const a = join();
	for (let id = 0; id < 10; id++) a.say({id, method: 'tools/list'});
	const error = {code: -32000, message: `no license ${'x'.repeat(100_000)}`};
	// Bridge tries the other versions, too.
	const first = server();
	for (let at = 0; at < first.received.length; at++) first.send({id: first.received[at]?.id, error});
	t.is(a.heard.length, 10);
	for (const text of a.texts) {
		t.regex(text, /files rejected initialize: no license xxx/);
		t.true(text.length < 3000);
	}
});
