import {answerHandshake, envelope, lastOf, type Pair, versioned} from '../helpers/version-stages.js';
import {before, firstWord, inHandshake, type Json, type Play, ready, say, since} from './golden-play.js';

const MODERN = '2026-07-28';
const discoverable = {tools: {listChanged: true}, resources: {subscribe: true, listChanged: false}};

/** A modern client has called a tool, and the server asks something. */
function elicited(pair: Pair): void {
	pair.client.send({id: 73, method: 'tools/call', params: {name: 'x', _meta: envelope({elicitation: {}})}});
	const params = {message: 'Your name?', requestedSchema: {type: 'object', properties: {}}};
	pair.upstream.send({id: 'srv-1', method: 'elicitation/create', params});
}

/** A modern client listens to what a server has to tell. */
function listening(capabilities: Json): Pair {
	const pair = ready({client: MODERN, server: '2025-11-25', serverCapabilities: capabilities});
	const notifications = {
		toolsListChanged: true,
		promptsListChanged: true,
		resourceSubscriptions: ['file:///c.json'],
	};
	pair.client.send({id: 'L', method: 'subscriptions/listen', params: {_meta: envelope(), notifications}});
	return pair;
}

/** A handshake client's call has reached a modern server. */
function calledModern(client: string, capabilities: Json, request: Json): Pair {
	const pair = ready({client, server: MODERN, clientCapabilities: capabilities});
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
		const pair = calledModern(each.to, capabilities, call(before(each).id));
		const heard = since(pair.client, () => say(pair.upstream, each.before));
		return Array.isArray(each.after) ? heard : heard[0];
	};

/** Cases with a side that shakes no hands. */
export const modernCases: {readonly [name: string]: Play} = {
	'input-required-to-legacy-elicitation': inputRequired({elicitation: {}}),
	'input-required-unsupported-by-client': inputRequired({}),
	'input-required-url-to-2025-11-25': inputRequired({elicitation: {url: {}}}),
	'legacy-call-result-to-modern': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({...call(72), params: {name: 'x', _meta: envelope()}});
		return since(pair.client, () => say(pair.upstream, each.before))[0];
	},
	'legacy-elicitation-answer-to-retry': each => {
		const {originalRequest, requestState} = each.state as {originalRequest: Json; requestState: string};
		const pair = calledModern(each.from, {elicitation: {}}, originalRequest);
		const params = {message: 'Your name?', requestedSchema: {type: 'object', properties: {}}};
		const inputRequests = {who: {method: 'elicitation/create', params}};
		pair.upstream.send({id: 5, result: {resultType: 'input_required', inputRequests, requestState}});
		const {id} = lastOf(pair.client);
		return since(pair.upstream, () => say(pair.client, {...before(each), id}))[0];
	},
	'legacy-elicitation-to-input-required': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({id: 73, method: 'tools/call', params: {name: 'x', _meta: envelope({elicitation: {}})}});
		return since(pair.client, () => say(pair.upstream, each.before))[0];
	},
	'legacy-initialize-answered-from-discover': each => {
		const {discoverResult} = each.state as {discoverResult: Json};
		const pair = versioned();
		say(pair.client, each.before);
		return since(pair.client, () => answerHandshake(pair, MODERN, discoverResult.capabilities as Json))[0];
	},
	'legacy-initialized-swallowed': inHandshake,
	'legacy-request-gets-envelope': each => {
		const pair = ready({client: each.from, server: each.to, clientCapabilities: {elicitation: {}}});
		return since(pair.upstream, () => say(pair.client, each.before))[0];
	},
	'legacy-request-with-stored-loglevel': each => {
		const pair = ready({client: each.from, server: each.to});
		pair.client.send({id: 13, method: 'logging/setLevel', params: {level: 'warning'}});
		return since(pair.upstream, () => say(pair.client, each.before))[0];
	},
	'legacy-resource-not-found-to-modern': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({id: 77, method: 'resources/read', params: {uri: 'file:///nope', _meta: envelope()}});
		return since(pair.client, () => say(pair.upstream, each.before))[0];
	},
	'legacy-resource-updated-to-modern': each => {
		const pair = listening({resources: {subscribe: true}});
		pair.upstream.send({id: lastOf(pair.upstream).id, result: {}});
		return since(pair.client, () => say(pair.upstream, each.before))[0];
	},
	'legacy-subscribe-to-listen': each => {
		const pair = ready({client: each.from, server: each.to, serverCapabilities: discoverable});
		const params = {
			_meta: {'io.modelcontextprotocol/subscriptionId': lastOf(pair.upstream).id},
			notifications: {},
		};
		pair.upstream.send({method: 'notifications/subscriptions/acknowledged', params});
		return since(pair.upstream, () => say(pair.client, each.before));
	},
	'modern-discover-answered': each => {
		const {initializeResult} = each.state as {initializeResult: Json};
		const pair = versioned();
		say(pair.client, each.before);
		return since(pair.client, () => answerHandshake(pair, each.to, initializeResult.capabilities as Json))[0];
	},
	'modern-envelope-missing': firstWord(),
	'modern-listen-acknowledged': each => {
		const pair = listening((each.state as {capabilities: Json}).capabilities);
		const {id} = lastOf(pair.upstream);
		return since(pair.client, () => say(pair.upstream, {...before(each), id}))[0];
	},
	'modern-loglevel-to-setlevel': each => {
		const pair = ready({client: each.from, server: each.to, serverCapabilities: {tools: {}, logging: {}}});
		return since(pair.upstream, () => say(pair.client, each.before));
	},
	'modern-retry-to-legacy-answer': each => {
		const pair = ready({client: each.from, server: each.to});
		elicited(pair);
		const {requestState} = lastOf(pair.client).result as Json;
		const retry = {...before(each), params: {...(before(each).params as Json), requestState}};
		return since(pair.upstream, () => say(pair.client, retry))[0];
	},
	'url-elicitation-required-to-input-required': each => {
		const pair = ready({client: each.to, server: each.from});
		pair.client.send({...call(75), params: {name: 'x', _meta: envelope()}});
		return since(pair.client, () => say(pair.upstream, each.before))[0];
	},
};
