import {answerHandshake, envelope, lastOf, type Pair, versioned} from '../helpers/version-stages.js';
import {
	before,
	firstMessage,
	inHandshake,
	type Json,
	type Play,
	ready,
	sendJson,
	since,
} from './golden-play.js';

const STATELESS = '2026-07-28';
const discoverable = {tools: {listChanged: true}, resources: {subscribe: true, listChanged: false}};

/** Sends a call of a stateless client, and an elicitation request of the server. */
function sendElicitation(pair: Pair): void {
	pair.client.send({id: 73, method: 'tools/call', params: {name: 'x', _meta: envelope({elicitation: {}})}});
	const params = {message: 'Your name?', requestedSchema: {type: 'object', properties: {}}};
	pair.upstream.send({id: 'srv-1', method: 'elicitation/create', params});
}

function subscribed(capabilities: Json): Pair {
	const pair = ready({client: STATELESS, server: '2025-11-25', serverCapabilities: capabilities});
	const notifications = {
		toolsListChanged: true,
		promptsListChanged: true,
		resourceSubscriptions: ['file:///c.json'],
	};
	pair.client.send({id: 'L', method: 'subscriptions/listen', params: {_meta: envelope(), notifications}});
	return pair;
}

function calledStateless(client: string, capabilities: Json, request: Json): Pair {
	const pair = ready({client, server: STATELESS, clientCapabilities: capabilities});
	pair.client.send({...request});
	return pair;
}

const call = (id: unknown, params: Json = {name: 'x', arguments: {a: 1}}): Json => ({
	id,
	method: 'tools/call',
	params,
});

const inputRequired =
	(capabilities: Json): Play =>
	each => {
		const pair = calledStateless(each.to, capabilities, call(before(each).id));
		const received = since(pair.client, () => sendJson(pair.upstream, each.before));
		return Array.isArray(each.after) ? received : received[0];
	};

export const statelessCases: {readonly [name: string]: Play} = {
	'input-required-to-legacy-elicitation': inputRequired({elicitation: {}}),
	'input-required-unsupported-by-client': inputRequired({}),
	'input-required-url-to-2025-11-25': inputRequired({elicitation: {url: {}}}),
	'legacy-call-result-to-modern': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({...call(72), params: {name: 'x', _meta: envelope()}});
		return since(pair.client, () => sendJson(pair.upstream, each.before))[0];
	},
	'legacy-elicitation-answer-to-retry': each => {
		const {originalRequest, requestState} = each.state as {originalRequest: Json; requestState: string};
		const pair = calledStateless(each.from, {elicitation: {}}, originalRequest);
		const params = {message: 'Your name?', requestedSchema: {type: 'object', properties: {}}};
		const inputRequests = {who: {method: 'elicitation/create', params}};
		pair.upstream.send({id: 5, result: {resultType: 'input_required', inputRequests, requestState}});
		const {id} = lastOf(pair.client);
		return since(pair.upstream, () => sendJson(pair.client, {...before(each), id}))[0];
	},
	'legacy-elicitation-to-input-required': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({id: 73, method: 'tools/call', params: {name: 'x', _meta: envelope({elicitation: {}})}});
		return since(pair.client, () => sendJson(pair.upstream, each.before))[0];
	},
	'legacy-initialize-answered-from-discover': each => {
		const {discoverResult} = each.state as {discoverResult: Json};
		const pair = versioned();
		sendJson(pair.client, each.before);
		return since(pair.client, () => answerHandshake(pair, STATELESS, discoverResult.capabilities as Json))[0];
	},
	'legacy-initialized-swallowed': inHandshake,
	'legacy-request-gets-envelope': each => {
		const pair = ready({client: each.from, server: each.to, clientCapabilities: {elicitation: {}}});
		return since(pair.upstream, () => sendJson(pair.client, each.before))[0];
	},
	'legacy-request-with-stored-loglevel': each => {
		const pair = ready({client: each.from, server: each.to});
		pair.client.send({id: 13, method: 'logging/setLevel', params: {level: 'warning'}});
		return since(pair.upstream, () => sendJson(pair.client, each.before))[0];
	},
	'legacy-resource-not-found-to-modern': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({id: 77, method: 'resources/read', params: {uri: 'file:///nope', _meta: envelope()}});
		return since(pair.client, () => sendJson(pair.upstream, each.before))[0];
	},
	'legacy-resource-updated-to-modern': each => {
		const pair = subscribed({resources: {subscribe: true}});
		pair.upstream.send({id: lastOf(pair.upstream).id, result: {}});
		return since(pair.client, () => sendJson(pair.upstream, each.before))[0];
	},
	'legacy-subscribe-to-listen': each => {
		const pair = ready({client: each.from, server: each.to, serverCapabilities: discoverable});
		const params = {
			_meta: {'io.modelcontextprotocol/subscriptionId': lastOf(pair.upstream).id},
			notifications: {},
		};
		pair.upstream.send({method: 'notifications/subscriptions/acknowledged', params});
		return since(pair.upstream, () => sendJson(pair.client, each.before));
	},
	'modern-discover-answered': each => {
		const {initializeResult} = each.state as {initializeResult: Json};
		const pair = versioned();
		sendJson(pair.client, each.before);
		return since(pair.client, () => answerHandshake(pair, each.to, initializeResult.capabilities as Json))[0];
	},
	'modern-envelope-missing': firstMessage(),
	'modern-listen-acknowledged': each => {
		const pair = subscribed((each.state as {capabilities: Json}).capabilities);
		const {id} = lastOf(pair.upstream);
		return since(pair.client, () => sendJson(pair.upstream, {...before(each), id}))[0];
	},
	'modern-loglevel-to-setlevel': each => {
		const pair = ready({client: each.from, server: each.to, serverCapabilities: {tools: {}, logging: {}}});
		return since(pair.upstream, () => sendJson(pair.client, each.before));
	},
	'modern-retry-to-legacy-answer': each => {
		const pair = ready({client: each.from, server: each.to});
		sendElicitation(pair);
		const {requestState} = lastOf(pair.client).result as Json;
		const retry = {...before(each), params: {...(before(each).params as Json), requestState}};
		return since(pair.upstream, () => sendJson(pair.client, retry))[0];
	},
	'url-elicitation-required-to-input-required': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({...call(75), params: {name: 'x', _meta: envelope()}});
		return since(pair.client, () => sendJson(pair.upstream, each.before))[0];
	},
};
