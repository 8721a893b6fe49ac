import test from 'ava';
import {BridgeError} from '../../../lib/core/errors.js';
import {until} from '../../helpers/pipeline.js';
import {RESULT, share, shareWithClients} from './support.js';

test('fails pending requests with -31004 when the upstream exits, and restarts it', async t => {
	const {a, b, server, servers, upstream, ready, allReceived} = shareWithClients(t, {}, {});
	a.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	b.send({id: 1, method: 'tools/call', params: {name: 'y'}});
	server().end(new BridgeError('ERR_CHILD_EXITED', 'files exited with code 1.', 'Words of stderr.'));
	for (const client of [a, b]) t.like(client.received, [{id: 1, error: {code: -31_004}}]);
	t.notRegex(a.texts.join(), /stderr/);
	t.like(upstream.state, {phase: 'failed', lastError: 'files exited with code 1.'});
	a.send({id: 2, method: 'tools/list'});
	await until(() => servers.length === 2);
	ready();
	t.like(upstream.state, {phase: 'ready', restarts: 1, clients: 2});
	t.is(allReceived('tools/call').length, 0, 'no call is sent twice');
	t.is(allReceived('tools/list').length, 1, 'the queued request is sent');
});

test('fails queued requests with the reason if the upstream cannot be started', async t => {
	const {join, server, servers} = share(t);
	const a = join();
	a.send({id: 1, method: 'initialize', params: {}});
	server().end(new BridgeError('ERR_COMMAND_UNUSABLE', 'There is no such command.', 'Check.'));
	t.like(a.received, [{id: 1, error: {code: -31_001}}]);
	await until(() => servers.length === 2);
});

test('retries an upstream that cannot be opened', async t => {
	let count = 0;
	const {join, upstream} = share(t, {
		open() {
			count++;
			throw new BridgeError('ERR_UPSTREAM_UNREACHABLE', 'It is not there.', 'Look for it.');
		},
	});
	const a = join();
	t.is(upstream.state.phase, 'failed');
	a.send({id: 1, method: 'initialize', params: {}});
	await until(() => count >= 3 && a.received.length > 0);
	t.like(a.received, [{id: 1, error: {code: -31_001}}]);
	t.like(upstream.state, {lastError: 'It is not there.'});
});

test('fails queued requests when the handshake times out', async t => {
	const {join} = share(t, {timeoutMs: 1});
	const a = join();
	a.send({id: 1, method: 'initialize', params: {}});
	await until(() => a.received.length > 0);
	t.like(a.received, [{id: 1, error: {code: -31_001}}]);
});

test('sends no list changes if a restarted upstream has the same initialize result', async t => {
	const {a, server, servers, ready} = shareWithClients(t, {});
	server().end();
	await until(() => servers.length === 2);
	ready();
	t.deepEqual(a.received, []);
});

test('sends list changes if a restarted upstream has another initialize result', async t => {
	const {a, server, servers, ready} = shareWithClients(t, {});
	server().end();
	await until(() => servers.length === 2);
	ready(RESULT.replace('1.0', '1.1').replace('"tools"', '"prompts"'));
	t.deepEqual(
		a.received.map(({method}) => method),
		['tools', 'prompts', 'resources'].map(what => `notifications/${what}/list_changed`),
	);
});

test('disconnects initialized clients if a restarted upstream speaks another version', async t => {
	const {a, server, servers, ready, join} = shareWithClients(t, {});
	server().end();
	await until(() => servers.length === 2);
	const late = join();
	late.send({id: 1, method: 'initialize', params: {}});
	ready(RESULT.replace('2025-11-25', '2025-06-18'));
	t.like(await a.ended, {code: 'ERR_SESSION_CLOSED'});
	t.like(late.received, [{id: 1, result: {protocolVersion: '2025-06-18'}}]);
});

test('keeps clients with onReinitialized and passes them the new version', async t => {
	const {upstream, join, server, servers, ready} = share(t);
	const results: unknown[] = [];
	const a = join('a', result => results.push(result));
	ready();
	a.initialize();
	for (const [at, version] of ['2025-06-18', '2025-06-18', '2025-11-25'].entries()) {
		server().end();
		await until(() => servers.length === at + 2);
		ready(RESULT.replace('2025-11-25', version));
	}
	t.like(results, [{protocolVersion: '2025-06-18'}, {protocolVersion: '2025-11-25'}]);
	t.is(upstream.state.clients, 1);
});

test('restores subscriptions and the log level after a restart', async t => {
	const {a, server, servers, ready, lastReceived} = shareWithClients(t, {});
	a.send({id: 1, method: 'resources/subscribe', params: {uri: 'file:///x'}});
	server().send({id: lastReceived('resources/subscribe').id, result: {}});
	a.send({id: 2, method: 'logging/setLevel', params: {level: 'debug'}});
	server().send({id: lastReceived('logging/setLevel').id, result: {}});
	server().end();
	await until(() => servers.length === 2);
	ready();
	t.like(lastReceived('resources/subscribe').params, {uri: 'file:///x'});
	t.like(lastReceived('logging/setLevel').params, {level: 'debug'});
});

test('does not restart an upstream without clients until the next client attaches', async t => {
	const {a, server, servers, upstream, join} = shareWithClients(t, {});
	await a.endpoint.close();
	server().end();
	await until(() => upstream.state.phase === 'idle');
	t.is(servers.length, 1);
	join();
	t.is(servers.length, 2);
});
