import test, {type ExecutionContext} from 'ava';
import {type Guest, type Json, share} from './support.js';

const PREFIX = 'io.modelcontextprotocol/';
const discovery = {
	resultType: 'complete',
	ttlMs: 0,
	cacheScope: 'private',
	supportedVersions: ['2026-07-28'],
	capabilities: {tools: {}, extensions: {'example.com/maps': {}}},
	_meta: {[`${PREFIX}serverInfo`]: {name: 'modern', version: '1'}},
};

/** A shared server that knows no handshake, and clients with what each can do. */
function modern(t: ExecutionContext, ...capabilities: Json[]) {
	const shared = share(t);
	const answer = (method: string, body: Json): void =>
		shared.server().send({jsonrpc: '2.0', id: shared.told(method).id, ...body});
	const guests = capabilities.map((can, at) => {
		const guest = shared.join(`client ${at}`);
		if (at === 0) {
			answer('initialize', {error: {code: -32601, message: 'Method not found'}});
			answer('server/discover', {result: discovery});
		}
		guest.greet(can);
		return guest;
	});
	const [a, b] = guests as [Guest, Guest];
	return {...shared, a, b};
}

/** Who the server was told that asks. */
const askers = (calls: readonly Json[]) =>
	calls.map(({params}) => {
		const {_meta} = params as {_meta: {[key: string]: unknown}};
		return [_meta[`${PREFIX}clientInfo`], _meta[`${PREFIX}clientCapabilities`]];
	});

const forms = {elicitation: {form: {}}, extensions: {'example.com/maps': {zoom: 2}}};
const call = (id: number) => ({id, method: 'tools/call', params: {name: 'where'}});

test('a shared server without handshake hears of each request who asks, and what they can do', t => {
	const {a, b, toldAll} = modern(t, forms, {sampling: {}});
	a.say(call(1));
	b.say(call(1));
	t.deepEqual(askers(toldAll('tools/call')), [
		[{name: 'client 0', version: '1'}, forms],
		[{name: 'client 1', version: '1'}, {sampling: {}}],
	]);
});

test('a client of a shared server without handshake is told of its extensions', t => {
	const {upstream, join} = modern(t, {});
	const guest = join('late');
	guest.say({id: 'init', method: 'initialize', params: {protocolVersion: '2025-11-25', capabilities: forms}});
	t.like(guest.heard[0]?.result, {capabilities: discovery.capabilities});
	t.is(upstream.state.phase, 'ready');
});

test('what a shared server without handshake needs is asked of who called, and its retry is still theirs [D16]', t => {
	const {a, b, told, toldAll, server} = modern(t, forms, forms);
	a.say(call(1));
	b.say(call(1));
	const [first] = toldAll('tools/call');
	const inputRequests = {
		name: {method: 'elicitation/create', params: {message: 'Who?', requestedSchema: {}}},
	};
	server().send({
		jsonrpc: '2.0',
		id: first?.id,
		result: {resultType: 'input_required', inputRequests, requestState: 's'},
	});
	const question = a.heard.at(-1);
	t.like(question, {method: 'elicitation/create', params: {message: 'Who?'}});
	t.is(b.heard.length, 0, 'nobody else is asked');
	a.say({id: question?.id, result: {action: 'accept', content: {name: 'me'}}});
	const retry = told('tools/call');
	t.like(retry.params, {name: 'where', requestState: 's', inputResponses: {name: {action: 'accept'}}});
	t.deepEqual(askers([retry]), [[{name: 'client 0', version: '1'}, forms]]);
	server().send({jsonrpc: '2.0', id: retry.id, result: {resultType: 'complete', content: []}});
	t.like(a.heard.at(-1), {id: 1, result: {content: []}});
});
