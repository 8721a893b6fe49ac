import test, {type ExecutionContext} from 'ava';
import {type Json, share, type TestClient} from './support.js';

const PREFIX = 'io.modelcontextprotocol/';
const discovery = {
	resultType: 'complete',
	ttlMs: 0,
	cacheScope: 'private',
	supportedVersions: ['2026-07-28'],
	capabilities: {tools: {}, extensions: {'example.com/maps': {}}},
	_meta: {[`${PREFIX}serverInfo`]: {name: 'stateless', version: '1'}},
};

/** A shared stateless upstream, with clients that have these capabilities. */
function shareStateless(t: ExecutionContext, ...capabilities: Json[]) {
	const shared = share(t);
	const respond = (method: string, body: Json): void =>
		shared.server().send({jsonrpc: '2.0', id: shared.lastReceived(method).id, ...body});
	const clients = capabilities.map((own, at) => {
		const client = shared.join(`client ${at}`);
		if (at === 0) {
			respond('initialize', {error: {code: -32601, message: 'Method not found'}});
			respond('server/discover', {result: discovery});
		}
		client.initialize(own);
		return client;
	});
	const [a, b] = clients as [TestClient, TestClient];
	return {...shared, a, b};
}

/** The client info and the capabilities in each request. */
const clientsOf = (calls: readonly Json[]) =>
	calls.map(({params}) => {
		const {_meta} = params as {_meta: {[key: string]: unknown}};
		return [_meta[`${PREFIX}clientInfo`], _meta[`${PREFIX}clientCapabilities`]];
	});

const forms = {elicitation: {form: {}}, extensions: {'example.com/maps': {zoom: 2}}};
const call = (id: number) => ({id, method: 'tools/call', params: {name: 'where'}});

test('sends a shared stateless upstream the info and capabilities of the client with each request', t => {
	const {a, b, allReceived} = shareStateless(t, forms, {sampling: {}});
	a.send(call(1));
	b.send(call(1));
	t.deepEqual(clientsOf(allReceived('tools/call')), [
		[{name: 'client 0', version: '1'}, forms],
		[{name: 'client 1', version: '1'}, {sampling: {}}],
	]);
});

test('includes the extensions of a shared stateless upstream in the initialize result', t => {
	const {upstream, join} = shareStateless(t, {});
	const client = join('late');
	client.send({
		id: 'init',
		method: 'initialize',
		params: {protocolVersion: '2025-11-25', capabilities: forms},
	});
	t.like(client.received[0]?.result, {capabilities: discovery.capabilities});
	t.is(upstream.state.phase, 'ready');
});

test('sends the input requests of a stateless upstream to the client of the call, and retries as that client [D16]', t => {
	const {a, b, lastReceived, allReceived, server} = shareStateless(t, forms, forms);
	a.send(call(1));
	b.send(call(1));
	const [first] = allReceived('tools/call');
	const inputRequests = {
		name: {method: 'elicitation/create', params: {message: 'Who?', requestedSchema: {}}},
	};
	server().send({
		jsonrpc: '2.0',
		id: first?.id,
		result: {resultType: 'input_required', inputRequests, requestState: 's'},
	});
	const serverRequest = a.received.at(-1);
	t.like(serverRequest, {method: 'elicitation/create', params: {message: 'Who?'}});
	t.is(b.received.length, 0, 'no other client gets it');
	a.send({id: serverRequest?.id, result: {action: 'accept', content: {name: 'me'}}});
	const retry = lastReceived('tools/call');
	t.like(retry.params, {name: 'where', requestState: 's', inputResponses: {name: {action: 'accept'}}});
	t.deepEqual(clientsOf([retry]), [[{name: 'client 0', version: '1'}, forms]]);
	server().send({jsonrpc: '2.0', id: retry.id, result: {resultType: 'complete', content: []}});
	t.like(a.received.at(-1), {id: 1, result: {content: []}});
});
