import {isObject, type JsonObject, mapMember, objectOf, toText, without} from '../util/json.js';
import {restoreOriginals, withOriginals} from './originals.js';
import {escapePointer, hasUnsupported, stripUnsupported} from './plain-json.js';
import {toHandshakeSampling} from './stateless-output.js';
import {NEWEST_HANDSHAKE, STATELESS} from './version.js';

/*
 * 2026-07-28 took the handshake away, and with it sessions, requests of the server, ping, subscribe and setLevel.
 * Every request says who asks and what they can do, in its `_meta`; a server that needs input answers that it does.
 *
 * Here is what becomes of single messages; of what tools give back, in modern-output.ts. What takes several of them is
 * in operators/modern-client.ts and operators/modern-upstream.ts, which make either side look like one of 2025-11-25.
 */

const PREFIX = 'io.modelcontextprotocol/';
export const PROTOCOL_VERSION = `${PREFIX}protocolVersion`;
const CLIENT_INFO = `${PREFIX}clientInfo`;
export const CLIENT_CAPABILITIES = `${PREFIX}clientCapabilities`;
const LOG_LEVEL = `${PREFIX}logLevel`;
export const SERVER_INFO = `${PREFIX}serverInfo`;
export const SUBSCRIPTION_ID = `${PREFIX}subscriptionId`;

/** Where a request, and the answer to `server/discover`, have the capabilities of their sender. */
const CLIENT_CAPABILITIES_AT = `/_meta/${escapePointer(CLIENT_CAPABILITIES)}`;
const SERVER_CAPABILITIES_AT = '/capabilities';

/** A value with what stands at this place as it was before another bridge had to change that. */
export const restoreOriginalsAt = (prefix: string, value: JsonObject): JsonObject =>
	restoreOriginals(value, (_original, pointer) => pointer.startsWith(`${prefix}/`));

/** Whether capabilities have something that the modern schema has no type for: null, say. */
export const haveUnsupportedValues = (capabilities: unknown): boolean =>
	hasUnsupported(objectOf(capabilities));

/** What the loss of that is called. */
export const UNSUPPORTED_VALUES = 'null and fractions in capabilities';

/** What a request says of whoever asks. */
export type RequestMeta = {
	readonly info: JsonObject;
	readonly capabilities: JsonObject;
	readonly logLevel?: string | undefined;
};

/** Whether a request is of the modern era: whatever mentions the version in `_meta` is. */
export const isStatelessRequest = (method: string | undefined, params: unknown): boolean =>
	method === 'server/discover' ||
	[PROTOCOL_VERSION, CLIENT_CAPABILITIES].some(key => key in objectOf(objectOf(params)._meta));

/** What is wrong with the envelope of a modern request, as an error to answer with. */
export function requestMetaError(params: unknown): JsonObject | undefined {
	const meta = objectOf(objectOf(params)._meta);
	const missing = [PROTOCOL_VERSION, CLIENT_CAPABILITIES].find(key => meta[key] === undefined);
	if (missing !== undefined)
		return {code: -32602, message: `Invalid params: _meta[${JSON.stringify(missing)}] is missing`};
	const requested = meta[PROTOCOL_VERSION];
	if (requested === STATELESS) return;
	return {
		code: -32022,
		message: `Unsupported protocol version: ${toText(requested)}`,
		// As server/discover has it, and the conformance suite demands. Older versions have a handshake instead.
		data: {requested, supported: [STATELESS]},
	};
}

export function requestMetaOf(params: unknown): RequestMeta {
	const meta = objectOf(restoreOriginalsAt(CLIENT_CAPABILITIES_AT, objectOf(params))._meta);
	const level = meta[LOG_LEVEL];
	return {
		info: isObject(meta[CLIENT_INFO]) ? meta[CLIENT_INFO] : {name: 'unknown', version: '0'},
		capabilities: objectOf(meta[CLIENT_CAPABILITIES]),
		logLevel: typeof level === 'string' ? level : undefined,
	};
}

/** The object less some members of its `_meta`, and less that if nothing is left of it. */
function withoutMetaKeys(object: JsonObject, ...keys: readonly string[]): JsonObject {
	if (!isObject(object._meta)) return object;
	const meta = without(object._meta, ...keys);
	if (meta === object._meta) return object;
	return Object.keys(meta).length > 0 ? {...object, _meta: meta} : without(object, '_meta');
}

/** Params of a request as a handshake server expects them. */
export const withoutRequestMeta = (params: JsonObject): JsonObject =>
	withoutMetaKeys(
		restoreOriginalsAt(CLIENT_CAPABILITIES_AT, params),
		PROTOCOL_VERSION,
		CLIENT_INFO,
		CLIENT_CAPABILITIES,
		LOG_LEVEL,
	);

/** Params of a request as a modern server expects them. */
export function withRequestMeta(params: JsonObject, {info, capabilities, logLevel}: RequestMeta): JsonObject {
	const removed = new Map<string, unknown>();
	const meta = {
		...objectOf(params._meta),
		[PROTOCOL_VERSION]: STATELESS,
		[CLIENT_INFO]: validImplementation(info),
		[CLIENT_CAPABILITIES]: stripUnsupported(
			statelessCapabilities(capabilities),
			CLIENT_CAPABILITIES_AT,
			removed,
		),
	};
	const result = {
		...without(params, 'task'),
		_meta: logLevel === undefined ? meta : {...meta, [LOG_LEVEL]: logLevel},
	};
	return removed.size > 0 ? withOriginals(result, removed) : result;
}

/** Who somebody is, with what has to be said of that. */
const validImplementation = (info: JsonObject): JsonObject =>
	typeof info.name === 'string' && typeof info.version === 'string'
		? info
		: {...info, name: toText(info.name ?? 'unknown'), version: toText(info.version ?? '0')};

/** What a client can do, less what there is no word for any more. */
const statelessCapabilities = (capabilities: JsonObject): JsonObject =>
	mapMember(without(capabilities, 'tasks'), 'roots', roots =>
		isObject(roots) ? without(roots, 'listChanged') : roots,
	);

/** Answers that a client may keep for a while. */
const cacheableMethods = new Set([
	'tools/list',
	'prompts/list',
	'resources/list',
	'resources/templates/list',
	'resources/read',
	'server/discover',
]);

/** A handshake server's result as a modern client expects it. To keep nothing for long is always right. */
export function toStatelessResult(method: string, result: JsonObject, serverInfo: unknown): JsonObject {
	const meta = objectOf(result._meta);
	const caching = cacheableMethods.has(method) ? {ttlMs: 0, cacheScope: 'private'} : {};
	const info = isObject(serverInfo) ? {[SERVER_INFO]: validImplementation(serverInfo)} : {};
	return {resultType: 'complete', ...result, ...caching, _meta: {...meta, ...info}};
}

/** A modern server's result as a handshake client expects it. */
export const toHandshakeResult = (result: JsonObject): JsonObject =>
	withoutMetaKeys(without(result, 'resultType', 'ttlMs', 'cacheScope'), SERVER_INFO);

/** A notification as a handshake client expects it. */
export function toHandshakeNotification(body: JsonObject): JsonObject {
	const params = objectOf(body.params);
	const plain = withoutMetaKeys(params, SUBSCRIPTION_ID);
	if (plain === params) return body;
	return Object.keys(plain).length > 0 ? {...body, params: plain} : without(body, 'params');
}

/** A code that must not be sent any more, as the one that took its place. */
export const toStatelessError = (error: JsonObject): JsonObject =>
	error.code === -32002 ? {...error, code: -32602} : error;

/** What `server/discover` is answered, for a server that was asked to initialize. */
export function toDiscoverResult({capabilities, instructions, serverInfo}: JsonObject): JsonObject {
	const removed = new Map<string, unknown>();
	const stable = without(objectOf(capabilities), 'tasks');
	const members = {
		supportedVersions: [STATELESS],
		capabilities: stripUnsupported(stable, SERVER_CAPABILITIES_AT, removed),
		...(instructions === undefined ? {} : {instructions}),
	};
	const result = toStatelessResult('server/discover', members, serverInfo);
	return removed.size > 0 ? withOriginals(result, removed) : result;
}

/** What `initialize` is answered, for a server that was asked what it can do. */
export function toInitializeResult(discoverResult: JsonObject, clientCapabilities: JsonObject): JsonObject {
	const {capabilities, instructions, _meta} = restoreOriginalsAt(SERVER_CAPABILITIES_AT, discoverResult);
	const serverInfo = objectOf(_meta)[SERVER_INFO];
	const supported =
		'extensions' in clientCapabilities
			? objectOf(capabilities)
			: without(objectOf(capabilities), 'extensions');
	return {
		protocolVersion: NEWEST_HANDSHAKE,
		capabilities: supported,
		serverInfo: isObject(serverInfo) ? serverInfo : {name: 'unknown', version: '0'},
		...(instructions === undefined ? {} : {instructions}),
	};
}

/** A server's request for input, in the form that a modern client is asked in. */
export function toInputRequest(method: string, params: unknown): JsonObject {
	const plain = without(objectOf(params), '_meta', 'task', 'elicitationId');
	return Object.keys(plain).length > 0 ? {method, params: plain} : {method};
}

/** Params of an input request as a request of a handshake server. Elicitation by URL has to have an id there. */
export function toServerRequestParams(method: unknown, params: unknown, id: string): JsonObject {
	const plain = objectOf(params);
	if (method === 'sampling/createMessage') return toHandshakeSampling(plain);
	return plain.mode === 'url' ? {...plain, elicitationId: id} : plain;
}
