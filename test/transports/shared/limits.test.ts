import test from 'ava';
import {Envelope, type Origin} from '../../../lib/envelope.js';
import {Questions} from '../../../lib/transports/shared/questions.js';
import {Subscriptions} from '../../../lib/transports/shared/subscriptions.js';
import {Valve} from '../../../lib/valve.js';
import {share, sharing} from './support.js';

const origin: Origin = {name: 'files', valve: new Valve()};

test('no more than so many questions are open', t => {
	const questions = new Questions<string>();
	const question = Envelope.received(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'), origin);
	for (let at = 0; at < 10_000; at++) questions.add('ann', question);
	t.like(
		t.throws(() => questions.add('bob', question)),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.is(questions.leave('ann').length, 10_000);
	t.notThrows(() => questions.add('bob', question));
});

test('a server that asks too much hears so', t => {
	const {a, server} = sharing(t, {roots: {}});
	a.say({id: 1, method: 'x'});
	for (let id = 0; id <= 10_000; id++) server().say({id, method: 'roots/list'});
	t.is(a.heard.length, 10_000);
	t.like(server().heard.at(-1), {id: 10_000, error: {code: -31_003}});
});

test('no more than so many resources are subscribed to', t => {
	const subscriptions = new Subscriptions<string>();
	for (let at = 0; at < 10_000; at++) subscriptions.add('ann', `file:///${at}`, () => {});
	t.like(
		t.throws(() => subscriptions.add('ann', 'file:///more', () => {})),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.notThrows(() => subscriptions.add('bob', 'file:///0', () => {}));
});

test('F3 a client that does not read is ended alone, with a warning, and nobody else waits', async t => {
	const {join, ready, server, told, logged, upstream} = share(t, {maxUnreadBytes: 1000});
	const [slow, fast] = [join('slow'), join('fast')];
	ready();
	for (const guest of [slow, fast]) guest.greet();
	slow.say({id: 1, method: 'x'});
	const {id} = told('x');
	const shut: Array<() => void> = [];
	slow.onHeard = envelope => void shut.push(envelope.origin.valve.shut());
	for (let at = 0; at < 20; at++)
		server().say({method: 'notifications/message', params: {level: 'info', data: 'x'.repeat(100)}});
	t.is(fast.heard.length, 20);
	t.true(fast.origin.valve.isOpen && server().origin.valve.isOpen);
	t.like(await slow.ended, {code: 'ERR_SESSION_STALLED'});
	await slow.endpoint.gone;
	t.is(slow.heard.length, 1);
	t.is(upstream.state.clients, 1);
	t.like(told('notifications/cancelled').params, {requestId: Number(id)});
	t.like(await logged('sse.slow_client'), [{client: 'slow', server: 'files'}]);
	t.true(slow.origin.valve.isOpen, 'nothing that it says is held back any longer');
});

test('F1 a client that does not read is not read, until it does', t => {
	const {a, server, told} = sharing(t, {});
	a.say({id: 1, method: 'x'});
	let open: (() => void) | undefined;
	a.onHeard = envelope => {
		open ??= envelope.origin.valve.shut();
	};
	const {id} = told('x');
	server().say({method: 'notifications/odd'});
	t.true(a.origin.valve.isOpen);
	server().say({id, result: {}});
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
	server().say({method: 'notifications/odd'});
	t.is(b.heard.length, 1);
	t.deepEqual(await logged('bug'), []);
});
