import {once} from 'node:events';
import test from 'ava';
import {startUpstream} from '../../helpers/upstream.js';
import {eventsOf} from './events.js';
import {Roamer, roam, SECRET, startReplica, startReplicas} from './support.js';

const call = {name: 'echo', arguments: {word: 'hello'}};

test('serves a session with an HTTP upstream at any replica under the same upstream session [M1]', async t => {
	const upstream = await startUpstream(t);
	const [one, two, three] = await startReplicas(t, 3, {servers: {echo: {url: upstream.url}}});
	if (!one || !two || !three) throw new Error('Three replicas are required.');
	const client = new Roamer('echo');
	await client.begin(one);
	// Another replica can complete the handshake.
	await client.complete(two);
	for (const gateway of [three, two, one, three]) {
		const {result} = await client.ask(gateway, 'tools/call', call);
		t.deepEqual(result, {content: [{type: 'text', text: JSON.stringify(call)}]});
	}
	t.is(upstream.sessions.size, 1);
	t.is(upstream.asked('initialize').length, 1);
	t.is(upstream.executions, 4);
	const ended = await two.fetch('/mcp/echo', {method: 'DELETE', headers: client.headers});
	t.is(ended.status, 200);
	t.is(upstream.sessions.size, 0);
	t.is((await client.post(one, {id: 9, method: 'tools/call', params: call})).status, 404);
});

test('a session survives the end of its replica [M1]', async t => {
	const upstream = await startUpstream(t);
	const config = {servers: {echo: {url: upstream.url}}};
	const [one, two] = await startReplicas(t, 2, config);
	if (!one || !two) throw new Error('Two replicas are required.');
	const client = await roam(one, 'echo');
	one.running.child.kill('SIGTERM');
	one.running.child.kill('SIGTERM');
	await one.running.exited;
	t.is(upstream.asked('DELETE').length, 0);
	t.truthy((await client.ask(two, 'tools/call', call)).result);
	// A replica started in its place serves the session, too.
	const successor = await startReplica(t, config, one.port);
	t.truthy((await client.ask(successor, 'tools/call', call)).result);
	t.is(upstream.sessions.size, 1);
});

test('every replica rejects a changed session id, or one of another service, principal or secret, with the same 404 [C7]', async t => {
	const upstream = await startUpstream(t);
	const servers = {echo: {url: upstream.url}, other: {url: upstream.url}};
	const [one, two] = await startReplicas(t, 2, {servers});
	const foreign = await startReplica(t, {servers, secret: 'a different shared secret'});
	if (!one || !two) throw new Error('Two replicas are required.');
	const client = await roam(one, 'echo', {authorization: 'Bearer a'});
	const {id} = client;
	const rejections = new Set<string>();
	const assertRejected = async (gateway: typeof one, headers: {[name: string]: string}, service = 'echo') => {
		const {status, text} = await gateway.post(service, {id: 1, method: 'tools/call', params: call}, headers);
		t.is(status, 404);
		rejections.add(text);
	};
	const own = {authorization: 'Bearer a'};
	for (const gateway of [one, two]) {
		await assertRejected(gateway, {
			...own,
			'mcp-session-id': `${id.slice(0, -2)}${id.endsWith('AA') ? 'BB' : 'AA'}`,
		});
		await assertRejected(gateway, {...own, 'mcp-session-id': id.slice(0, -1)});
		await assertRejected(gateway, {...own, 'mcp-session-id': 'b1.'});
		await assertRejected(gateway, {...own, 'mcp-session-id': id}, 'other');
		await assertRejected(gateway, {authorization: 'Bearer b', 'mcp-session-id': id});
		await assertRejected(gateway, {'mcp-session-id': id});
	}
	await assertRejected(foreign, {...own, 'mcp-session-id': id});
	t.is(rejections.size, 1);
	t.is(upstream.executions, 0);
	for (const method of ['GET', 'DELETE']) {
		const headers = {accept: 'text/event-stream', 'mcp-session-id': id};
		t.is((await two.fetch('/mcp/echo', {method, headers})).status, 404);
	}
	for (const {running} of [one, two]) {
		t.false(running.stderr.includes(id));
		t.false(running.stderr.includes(SECRET));
	}
});

test('resumes the last session of a client without Mcp-Session-Id only if it sends credentials [C1]', async t => {
	const upstream = await startUpstream(t);
	const gateway = await startReplica(t, {servers: {echo: {url: upstream.url}}});
	const own = {authorization: 'Bearer a'};
	await roam(gateway, 'echo');
	await roam(gateway, 'echo', own);
	const withoutId = {id: 1, method: 'tools/call', params: call};
	t.is((await gateway.post('echo', withoutId)).status, 400);
	t.is((await gateway.post('echo', withoutId, own)).status, 200);
	t.is(upstream.executions, 1);
});

test('accepts session ids of both secrets during a rotation [M2]', async t => {
	const upstream = await startUpstream(t);
	const servers = {echo: {url: upstream.url}};
	const before = await startReplica(t, {servers});
	const after = await startReplica(t, {servers, secret: `the next shared secret\n${SECRET}`});
	const old = await roam(before, 'echo');
	t.truthy((await old.ask(after, 'tools/call', call)).result);
	const next = await roam(after, 'echo');
	t.truthy((await next.ask(after, 'tools/call', call)).result);
	t.is((await next.post(before, {id: 1, method: 'tools/call', params: call})).status, 404);
});

test('sends unsolicited upstream messages only to the replica where the client listens [M1]', async t => {
	const upstream = await startUpstream(t);
	const [one, two] = await startReplicas(t, 2, {servers: {echo: {url: upstream.url}}});
	if (!one || !two) throw new Error('Two replicas are required.');
	const client = await roam(one, 'echo');
	const first = await eventsOf(t, two, client);
	await upstream.meets('GET');
	upstream.say({method: 'notifications/message', params: {level: 'info', data: 1}});
	t.regex(await first.next(), /"data":1/);
	const [stream] = upstream.streams;
	const closed = stream && once(stream, 'close');
	first.close();
	await closed;
	const second = await eventsOf(t, one, client);
	await upstream.meets('GET', 2);
	upstream.say({method: 'notifications/message', params: {level: 'info', data: 2}});
	t.regex(await second.next(), /"data":2/);
	t.is(upstream.asked('GET').length, 2);
});
