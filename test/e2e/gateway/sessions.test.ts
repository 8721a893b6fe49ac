import {request as httpRequest} from 'node:http';
import test from 'ava';
import {opening} from '../../helpers/bridge.js';
import {messageIn} from '../../helpers/gateway.js';
import {logged} from '../../helpers/program.js';
import {unknownSession} from '../../helpers/upstream.js';
import {plain, type Setting, shareGateway} from './shared-gateway.js';

const use = shareGateway(
	plain('callers', 'twins', 'anew', 'bad-ids', 'spelled', 'lost', 'lost-again', 'lost-many', 'foreign'),
	{tokens: []},
);

const alice = {authorization: 'Bearer alice'};
const bob = {authorization: 'Bearer bob'};

/** The session ids in the upstream's requests of this kind, in order. */
const idsReceived = ({upstream}: Setting, method: string): unknown[] =>
	upstream.asked(method).map(({headers}) => headers['mcp-session-id']);

test('never uses a stored session for a client with another Authorization [C1]', async t => {
	const {gateway, upstream, service} = use('callers');
	await gateway.open(service, alice);
	for (const headers of [bob, {}]) {
		const {status} = await gateway.post(service, {id: 1, method: 'tools/list'}, headers);
		t.is(status, 400);
	}
	t.is(upstream.asked('tools/list').length, 0);
	t.is((await gateway.post(service, {id: 1, method: 'tools/list'}, alice)).status, 200);
	t.is(upstream.asked('tools/list')[0]?.headers.authorization, alice.authorization);
});

test('routes a request without an id to the most recent of several sessions, with a warning [C1]', async t => {
	const setting = use('twins');
	const {gateway, upstream, service} = setting;
	const first = await gateway.open(service, alice);
	await gateway.open(service, alice);
	await first.request(1, 'ping');
	await gateway.post(service, {id: 2, method: 'tools/list'}, alice);
	t.deepEqual(idsReceived(setting, 'tools/list'), idsReceived(setting, 'ping'));
	t.deepEqual(idsReceived(setting, 'ping'), [[...upstream.sessions][0]]);
	await gateway.running.says(/"event":"session\.inject\.ambiguous"/);
	t.like(
		logged(gateway.running, 'session.inject.ambiguous').find(entry => entry.service === service),
		{sessions: 2},
	);
});

test('sends initialize without a session id, and separates the new session from other clients [C2]', async t => {
	const setting = use('anew');
	const {gateway, upstream, service} = setting;
	const old = await gateway.open(service, alice);
	const other = await gateway.open(service, bob);
	const [, ofBob] = upstream.sessions;
	const again = await gateway.open(service, {
		...alice,
		'mcp-session-id': old.headers['mcp-session-id'] ?? '',
	});
	t.not(again.headers['mcp-session-id'], old.headers['mcp-session-id']);
	t.deepEqual(idsReceived(setting, 'initialize'), [undefined, undefined, undefined]);
	await gateway.post(service, {id: 1, method: 'tools/list'}, alice);
	await gateway.post(service, {id: 1, method: 'tools/list'}, bob);
	await other.request(2, 'tools/list');
	const [, , latest] = upstream.sessions;
	t.deepEqual(idsReceived(setting, 'tools/list'), [latest, ofBob, ofBob]);
});

for (const [title, id] of [
	['with non-ASCII letters', Buffer.from('sitzung-ü').toString('latin1')],
	['with a space', 'two words'],
	['over 1 KiB', 'x'.repeat(1025)],
] as const)
	test.serial(`rejects a session id of an upstream ${title} with 502 and never uses it [C3]`, async t => {
		const setting = use('bad-ids');
		const {gateway, upstream, service} = setting;
		upstream.mood = ({message, response}) => {
			if (message.method === 'initialize')
				response.writeHead(200, {'Mcp-Session-Id': id, 'content-type': 'application/json'}).end(
					JSON.stringify({
						jsonrpc: '2.0',
						id: message.id,
						result: {...opening, serverInfo: opening.clientInfo},
					}),
				);
			return message.method === 'initialize';
		};
		const reply = await gateway.post(service, {id: 7, method: 'initialize', params: opening});
		t.is(reply.status, 502);
		t.like(messageIn(reply), {id: 7, error: {code: -31001}});
		t.is(reply.headers.get('mcp-session-id'), null);
		await gateway.running.says(/"event":"session\.id\.refused"/);
		t.false(gateway.running.stderr.includes(id));
		t.is((await gateway.post(service, {id: 8, method: 'ping'})).status, 400);
		t.false(idsReceived(setting, 'DELETE').includes(id));
	});

/** Sends a request with exactly these headers, including case and repetitions. Resolves with the status. */
const withHeaders = (
	{gateway, service}: Setting,
	method: string,
	headers: readonly string[],
	body = '',
): Promise<number | undefined> =>
	new Promise((resolve, reject) => {
		const common = [
			'Host',
			gateway.base.host,
			'Content-Type',
			'application/json',
			'Accept',
			'text/event-stream',
		];
		httpRequest(
			new URL(`/mcp/${service}`, gateway.base),
			{method, headers: [...common, 'Content-Length', String(body.length), ...headers]},
			response => {
				resolve(response.statusCode);
				response.destroy();
			},
		)
			.on('error', reject)
			.end(body);
	});

test('accepts the header name in any case, and duplicates only with the same value [C4]', async t => {
	const setting = use('spelled');
	const {headers} = await setting.gateway.open(setting.service);
	const id = headers['mcp-session-id'] ?? '';
	const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
	for (const name of ['mcp-session-id', 'MCP-SESSION-ID', 'Mcp-Session-Id'])
		t.is(await withHeaders(setting, 'POST', [name, id], ping), 200);
	t.is(await withHeaders(setting, 'POST', ['mcp-session-id', id, 'Mcp-Session-Id', id], ping), 200);
	for (const [method, body] of [['POST', ping], ['GET'], ['DELETE']] as const)
		t.is(await withHeaders(setting, method, ['mcp-session-id', id, 'Mcp-Session-Id', 'other'], body), 400);
	t.is(await withHeaders(setting, 'GET', ['mcp-session-id', id, 'Mcp-Session-Id', id]), 200);
});

test('replies with 404 and ends the session when re-initialization does not restore it upstream [C5]', async t => {
	const {gateway, upstream, service} = use('lost');
	const session = await gateway.open(service);
	upstream.mood = met => {
		if (met.message.method === 'tools/call') unknownSession(met);
		return met.message.method === 'tools/call';
	};
	const reply = await session.post({id: 1, method: 'tools/call', params: {name: 'echo'}});
	t.is(reply.status, 404);
	t.is(upstream.asked('initialize').length, 2, 'the session was re-initialized once');
	t.is(upstream.asked('tools/call').length, 2, 'the call was retried once');
	upstream.mood = () => false;
	const later = await session.post({id: 2, method: 'tools/list'});
	t.is(later.status, 404);
	t.is(upstream.executions, 0);
});

test('re-initializes a lost session once for all pending calls, and executes each call exactly once [C6]', async t => {
	const {gateway, upstream, service} = use('lost-many');
	const session = await gateway.open(service);
	await session.request('before', 'tools/call', {name: 'echo'});
	const ids = Array.from({length: 20}, (_, at) => at);
	for (const round of [1, 2, 3]) {
		upstream.lose();
		const replies = await Promise.all(
			ids.map(at => session.request(`${round}-${at}`, 'tools/call', {name: 'echo', arguments: {round, at}})),
		);
		for (const [at, {result}] of replies.entries())
			t.like(result, {content: [{text: JSON.stringify({name: 'echo', arguments: {round, at}})}]});
		t.is(upstream.executions, 1 + 20 * round);
		t.is(upstream.asked('initialize').length, 1 + round);
		t.is(upstream.asked('notifications/initialized').length, 1 + round);
	}
});

test('treats a 400 that mentions the session as a lost session, also without JSON [C6]', async t => {
	const {gateway, upstream, service} = use('lost-again');
	const session = await gateway.open(service);
	for (const [at, body] of [
		'{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}',
		'No such Session',
	].entries()) {
		upstream.lose();
		upstream.mood = ({message, headers, response}) => {
			const isLost =
				message.method === 'tools/call' && !upstream.sessions.has(String(headers['mcp-session-id']));
			if (isLost) response.writeHead(400, {'content-type': 'text/plain'}).end(body);
			return isLost;
		};
		const {result} = await session.request(at, 'tools/call', {name: 'echo'});
		t.truthy(result);
		t.is(upstream.executions, at + 1);
	}
});

test('replies with the same 404 to an id that is unknown, forged, or of another client or service [C7]', async t => {
	const {gateway, service} = use('foreign');
	const {headers} = await gateway.open(service, alice);
	const elsewhere = await gateway.open('spelled', alice);
	const id = headers['mcp-session-id'] ?? '';
	const altered = Array.from(id, (_, at) => {
		const byte = (id.charCodeAt(at) ^ 1).toString(16);
		return id.slice(0, at) + String.fromCharCode(Number.parseInt(byte, 16)) + id.slice(at + 1);
	});
	const forged = [...altered, id.slice(0, -1), `${id}0`, id.toUpperCase(), 'x', '__proto__'].filter(
		other => other !== id,
	);
	const attempts = [
		...forged.map(other => ({...alice, 'mcp-session-id': other})),
		{...bob, 'mcp-session-id': id},
		{'mcp-session-id': id},
		{...alice, 'mcp-session-id': elsewhere.headers['mcp-session-id'] ?? ''},
	];
	const bodies = new Set<string>();
	for (const each of attempts) {
		const reply = await gateway.post(service, {id: 1, method: 'ping'}, each);
		t.is(reply.status, 404);
		bodies.add(reply.text);
	}
	t.is(bodies.size, 1);
	for (const method of ['GET', 'DELETE']) {
		const replies = await Promise.all(
			attempts
				.slice(-4)
				.map(each =>
					gateway.fetch(`/mcp/${service}`, {method, headers: {...each, accept: 'text/event-stream'}}),
				),
		);
		t.deepEqual([...new Set(replies.map(({status}) => status))], [404]);
		t.is(new Set(replies.map(({text}) => text)).size, 1);
	}
	await gateway.running.says(/"event":"session\.unknown"/);
	t.false(gateway.running.stderr.includes(id));
	t.is(
		(await gateway.post(service, {id: 2, method: 'ping'}, headers)).status,
		200,
		'the session still works',
	);
});
