import test from 'ava';
import {BridgeError} from '../../../lib/core/errors.js';
import {until} from '../../helpers/pipeline.js';
import {RESULT, share, sharing} from './support.js';

test('when the server dies, everything in flight is answered with -31004, and another one is started', async t => {
	const {a, b, server, servers, upstream, ready, toldAll} = sharing(t, {}, {});
	a.say({id: 1, method: 'tools/call', params: {name: 'x'}});
	b.say({id: 1, method: 'tools/call', params: {name: 'y'}});
	server().end(new BridgeError('ERR_CHILD_EXITED', 'files exited with code 1.', 'Words of stderr.'));
	for (const guest of [a, b]) t.like(guest.heard, [{id: 1, error: {code: -31_004}}]);
	t.notRegex(a.texts.join(), /stderr/);
	t.like(upstream.state, {phase: 'failed', lastError: 'files exited with code 1.'});
	a.say({id: 2, method: 'tools/list'});
	await until(() => servers.length === 2);
	ready();
	t.like(upstream.state, {phase: 'ready', restarts: 1, clients: 2});
	t.is(toldAll('tools/call').length, 0, 'no call is sent twice');
	t.is(toldAll('tools/list').length, 1, 'what waited is sent');
});

test('what waited for a server that cannot be started is answered with the reason', async t => {
	const {join, server, servers} = share(t);
	const a = join();
	a.say({id: 1, method: 'initialize', params: {}});
	server().end(new BridgeError('ERR_COMMAND_UNUSABLE', 'There is no such command.', 'Check.'));
	t.like(a.heard, [{id: 1, error: {code: -31_001}}]);
	await until(() => servers.length === 2);
});

test('a server whose making fails is tried again', async t => {
	let count = 0;
	const {join, upstream} = share(t, {
		open() {
			count++;
			throw new BridgeError('ERR_UPSTREAM_UNREACHABLE', 'It is not there.', 'Look for it.');
		},
	});
	const a = join();
	t.is(upstream.state.phase, 'failed');
	a.say({id: 1, method: 'initialize', params: {}});
	await until(() => count >= 3 && a.heard.length > 0);
	t.like(a.heard, [{id: 1, error: {code: -31_001}}]);
	t.like(upstream.state, {lastError: 'It is not there.'});
});

test('a server that does not answer the handshake in time has failed', async t => {
	const {join} = share(t, {timeoutMs: 1});
	const a = join();
	a.say({id: 1, method: 'initialize', params: {}});
	await until(() => a.heard.length > 0);
	t.like(a.heard, [{id: 1, error: {code: -31_001}}]);
});

test('a server that says the same of itself after a restart has changed nothing', async t => {
	const {a, server, servers, ready} = sharing(t, {});
	server().end();
	await until(() => servers.length === 2);
	ready();
	t.deepEqual(a.heard, []);
});

test('a server that says something else of itself may have other lists', async t => {
	const {a, server, servers, ready} = sharing(t, {});
	server().end();
	await until(() => servers.length === 2);
	ready(RESULT.replace('1.0', '1.1').replace('"tools"', '"prompts"'));
	t.deepEqual(
		a.heard.map(({method}) => method),
		['tools', 'prompts', 'resources'].map(what => `notifications/${what}/list_changed`),
	);
});

test('a server that speaks another version after a restart ends those that were told of the first', async t => {
	const {a, server, servers, ready, join} = sharing(t, {});
	server().end();
	await until(() => servers.length === 2);
	const late = join();
	late.say({id: 1, method: 'initialize', params: {}});
	ready(RESULT.replace('2025-11-25', '2025-06-18'));
	t.like(await a.ended, {code: 'ERR_SESSION_CLOSED'});
	t.like(late.heard, [{id: 1, result: {protocolVersion: '2025-06-18'}}]);
});

test('who listens to that is told of the new version, and stays', async t => {
	const {upstream, join, server, servers, ready} = share(t);
	const results: unknown[] = [];
	const a = join('a', result => results.push(result));
	ready();
	a.greet();
	for (const [at, version] of ['2025-06-18', '2025-06-18', '2025-11-25'].entries()) {
		server().end();
		await until(() => servers.length === at + 2);
		ready(RESULT.replace('2025-11-25', version));
	}
	t.like(results, [{protocolVersion: '2025-06-18'}, {protocolVersion: '2025-11-25'}]);
	t.is(upstream.state.clients, 1);
});

test('subscriptions and the log level are told again to a server that was started again', async t => {
	const {a, server, servers, ready, told} = sharing(t, {});
	a.say({id: 1, method: 'resources/subscribe', params: {uri: 'file:///x'}});
	server().send({id: told('resources/subscribe').id, result: {}});
	a.say({id: 2, method: 'logging/setLevel', params: {level: 'debug'}});
	server().send({id: told('logging/setLevel').id, result: {}});
	server().end();
	await until(() => servers.length === 2);
	ready();
	t.like(told('resources/subscribe').params, {uri: 'file:///x'});
	t.like(told('logging/setLevel').params, {level: 'debug'});
});

test('a server that dies while nobody needs it is not started again before somebody does', async t => {
	const {a, server, servers, upstream, join} = sharing(t, {});
	await a.endpoint.close();
	server().end();
	await until(() => upstream.state.phase === 'idle');
	t.is(servers.length, 1);
	join();
	t.is(servers.length, 2);
});
