import {once} from 'node:events';
import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {ask, type EventSource, listen} from '../../helpers/event-source.js';
import {messageIn} from '../../helpers/gateway.js';
import {event, type Met, stream} from '../../helpers/upstream.js';
import {plain, shareGateway} from './shared-gateway.js';

const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const use = shareGateway({
	...plain('cut', 'cut-nameless', 'cut-for-good', 'left', 'left-modern', 'asking'),
	slow: {timeout: 3},
	// Long enough for a request to reach the upstream on a busy machine.
	'slow-start': {timeout: 4},
	modern: {targetVersion: MODERN},
	'left-both': {targetVersion: MODERN},
});

const meta = {
	[`${PREFIX}protocolVersion`]: MODERN,
	[`${PREFIX}clientInfo`]: {name: 'test', version: '1'},
	[`${PREFIX}clientCapabilities`]: {},
};
const modernHeaders = {'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'echo'};
const modernCall = {id: 1, method: 'tools/call', params: {name: 'echo', _meta: meta}};
const call = {id: 1, method: 'tools/call', params: {name: 'echo'}};
const isCall = ({message}: Met): boolean => message.method === 'tools/call';
const notice = (data: unknown): Message => ({method: 'notifications/message', params: {level: 'info', data}});
const socketClosed = (met: Met): Promise<unknown> =>
	met.request.socket.destroyed ? Promise.resolve() : once(met.request.socket, 'close');

test('replies with 504 when an upstream does not respond in time, closes the socket and sends a cancellation [D2]', async t => {
	const {gateway, upstream, service} = use('slow');
	const session = await gateway.open(service);
	upstream.mood = isCall;
	const reply = await session.post({...call, id: 'mine'});
	t.is(reply.status, 504);
	t.like(messageIn(reply), {id: 'mine', error: {code: -31002}});
	const met = await upstream.meets('tools/call');
	await socketClosed(met);
	const {message} = await upstream.meets('notifications/cancelled');
	t.is((message.params as Message).requestId, met.message.id);
	upstream.mood = () => false;
	t.is((await session.post(call)).status, 200, 'the session still works');
});

test('replies with 504 and closes the socket when an upstream does not respond to initialize in time [D2]', async t => {
	const {gateway, upstream, service} = use('slow-start');
	upstream.mood = ({message}) => message.method === 'initialize';
	const reply = await gateway.post(service, {
		id: 1,
		method: 'initialize',
		params: {protocolVersion: '2025-11-25'},
	});
	t.is(reply.status, 504);
	await socketClosed(await upstream.meets('initialize'));
	t.is(upstream.asked('notifications/cancelled').length, 0, 'an initialize is not canceled');
});

test('resumes a stream that is cut at any event, without duplicates [D8]', async t => {
	const {gateway, upstream, service} = use('cut');
	const session = await gateway.open(service);
	for (let cut = 0; cut <= 4; cut++) {
		const all = (id: unknown): string[] => [
			'id: start\nretry: 10\ndata:\n\n',
			...[1, 2, 3].map(at => event(notice(`${cut}-${at}`), `${cut}-${at}`)),
			event({id, result: {content: [{type: 'text', text: `${cut}`}]}}, `${cut}-4`),
		];
		let requestId: unknown;
		upstream.mood = met => {
			const {message, headers, request, verb} = met;
			if (isCall(met)) {
				requestId = message.id;
				upstream.execute(message.params);
				stream(met, ...all(requestId).slice(0, cut + 1));
				setImmediate(() => (cut % 2 ? request.socket.resetAndDestroy() : met.response.end()));
			} else if (verb === 'GET' && headers['last-event-id'] !== undefined) {
				const at =
					headers['last-event-id'] === 'start' ? 0 : Number(String(headers['last-event-id']).slice(-1));
				stream(met, ...all(requestId).slice(at + 1)).end();
			} else return false;
			return true;
		};
		const {text} = await session.post({...call, id: cut});
		const received = [...text.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => data);
		t.deepEqual(
			received,
			[1, 2, 3].map(at => `${cut}-${at}`),
		);
		t.regex(text, new RegExp(`"id":${cut},"result"`));
	}
	t.is(upstream.executions, 5);
});

test('reports a stream that cannot be resumed as an error in the stream of the client [D8]', async t => {
	const {gateway, upstream, service} = use('cut-nameless');
	const session = await gateway.open(service);
	upstream.mood = met => {
		if (isCall(met)) {
			upstream.execute(met.message.params);
			stream(met, event(notice('first'))).end();
		}
		return isCall(met);
	};
	const reply = await session.post(call);
	t.is(reply.status, 200);
	t.like(messageIn(reply), {id: 1, error: {code: -31001}});
	t.is(upstream.executions, 1);
});

test('gives up a stream that breaks repeatedly without new events [D8]', async t => {
	const {gateway, upstream, service} = use('cut-for-good');
	const session = await gateway.open(service);
	upstream.mood = met => {
		const isResumed = met.verb === 'GET' && met.headers['last-event-id'] !== undefined;
		if (isCall(met)) stream(met, 'id: a\nretry: 1\ndata:\n\n').end();
		else if (isResumed) stream(met, 'retry: 1\n\n').end();
		return isCall(met) || isResumed;
	};
	const reply = await session.post(call);
	t.like(messageIn(reply), {id: 1, error: {code: -31001}});
});

test('reports a cut stream without sessions as an error, even if its events have ids [D8]', async t => {
	const {gateway, upstream, service} = use('modern');
	upstream.mood = met => {
		if (isCall(met)) stream(met, event(notice('first'), 'a')).end();
		return isCall(met);
	};
	const reply = await gateway.post(service, modernCall, modernHeaders);
	t.like(messageIn(reply), {id: 1, error: {code: -31001}});
	t.is(upstream.asked('GET').length, 0);
	t.is(upstream.asked('tools/call').length, 1);
});

test('a client of a session that disconnects can resume its stream, and its call is not canceled [D10]', async t => {
	const {gateway, upstream, service} = use('left');
	const {headers} = await gateway.open(service);
	upstream.mood = met => {
		if (isCall(met)) stream(met, event(notice(1)));
		return isCall(met);
	};
	const leaving = new AbortController();
	const first = await ask(gateway, service, call, headers, leaving.signal);
	let last: Awaited<ReturnType<EventSource['next']>>;
	do last = await first.next();
	while (last.message.method === undefined);
	leaving.abort();
	const met = await upstream.meets('tools/call');
	met.response.write(event(notice(2)));
	met.response.end(event({id: met.message.id, result: {content: []}}));
	await once(met.response, 'close');
	const rest = await listen(gateway, service, headers, last.id);
	t.deepEqual((await rest.message()).params, notice(2).params);
	t.like(await rest.message(), {id: 1, result: {content: []}});
	t.is(await rest.nextOrEnd(), undefined, 'the stream ends');
	t.is(upstream.asked('notifications/cancelled').length, 0);
});

for (const service of ['left-modern', 'left-both'])
	test(`aborts the upstream request when a client without sessions disconnects (${service}) [D10]`, async t => {
		const {gateway, upstream} = use(service);
		upstream.mood = isCall;
		const leaving = new AbortController();
		const pending = ask(gateway, service, modernCall, modernHeaders, leaving.signal);
		const met = await upstream.meets('tools/call');
		leaving.abort();
		await t.throwsAsync(pending, {any: true});
		await socketClosed(met);
		if (service === 'left-modern') await upstream.meets('notifications/cancelled');
		t.pass();
	});

test('forwards a server request only to the client whose request caused it, and returns the reply [D16]', async t => {
	const {gateway, upstream, service} = use('asking');
	const callers = ['alice', 'bob'];
	upstream.mood = met => {
		const {message, headers} = met;
		if (isCall(met)) {
			const params = {
				message: `for ${headers.authorization}`,
				requestedSchema: {type: 'object', properties: {}},
			};
			stream(met, event({id: 1, method: 'elicitation/create', params}));
		} else if (message.method === undefined && message.id === 1) {
			met.response.writeHead(202).end();
			const waiting = upstream.met.find(
				other => isCall(other) && other.headers['mcp-session-id'] === headers['mcp-session-id'],
			);
			waiting?.response.end(event({id: waiting.message.id, result: {content: [], reply: message.result}}));
		} else return false;
		return true;
	};
	const sessions = await Promise.all(
		callers.map(async authorization => {
			const params = {
				protocolVersion: '2025-11-25',
				clientInfo: {name: 'test', version: '1'},
				capabilities: {elicitation: {}},
			};
			const opened = await gateway.post(service, {id: 0, method: 'initialize', params}, {authorization});
			const id = opened.headers.get('mcp-session-id') ?? '';
			const headers = {authorization, 'mcp-session-id': id};
			await gateway.post(service, {method: 'notifications/initialized'}, headers);
			return headers;
		}),
	);
	// Both clients use the same request id as the server.
	const streams = await Promise.all(sessions.map(headers => ask(gateway, service, call, headers)));
	for (const [at, events] of streams.entries()) {
		const serverRequest = await events.message();
		t.like(serverRequest, {method: 'elicitation/create', params: {message: `for ${callers[at]}`}});
		const content = {from: callers[at]};
		const headers = sessions[at] ?? {};
		await gateway.post(service, {id: serverRequest.id, result: {action: 'accept', content}}, headers);
		t.like(await events.message(), {id: 1, result: {reply: {content}}});
		t.is(await events.nextOrEnd(), undefined);
	}
});
