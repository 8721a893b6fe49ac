import {isObject, type JsonObject, mapMember, objectOf, toText, without} from '../util/json.js';
import {restoreOriginals, withOriginals} from './originals.js';
import {escapePointer, hasUnsupported, stripUnsupported} from './plain-json.js';
import {toHandshakeSampling} from './stateless-output.js';
import {NEWEST_HANDSHAKE, STATELESS} from './version.js';

/*
 * 2026-07-28 removed the handshake, sessions, server requests, ping, subscribe and setLevel. The `_meta` of
 * every request describes the client and its capabilities. A server that needs input responds with a result
 * that requests it.
 *
 * This file translates single messages, and stateless-output.ts the output of tools.
 * operators/stateless-client.ts and operators/stateless-upstream.ts translate sequences: they make either
 * side appear as one of 2025-11-25.
 */

const PREFIX = 'io.modelcontextprotocol/';
export const PROTOCOL_VERSION = `${PREFIX}protocolVersion`;
const CLIENT_INFO = `${PREFIX}clientInfo`;
export const CLIENT_CAPABILITIES = `${PREFIX}clientCapabilities`;
const LOG_LEVEL = `${PREFIX}logLevel`;
export const SERVER_INFO = `${PREFIX}serverInfo`;
export const SUBSCRIPTION_ID = `${PREFIX}subscriptionId`;

/** JSON pointers to the sender's capabilities, in a request and in a `server/discover` result. */
const CLIENT_CAPABILITIES_AT = `/_meta/${escapePointer(CLIENT_CAPABILITIES)}`;
const SERVER_CAPABILITIES_AT = '/capabilities';

/** Restores the originals below a JSON pointer, which another bridge preserved. */
export const restoreOriginalsAt = (prefix: string, value: JsonObject): JsonObject =>
	restoreOriginals(value, (_original, pointer) => pointer.startsWith(`${prefix}/`));

/** Whether capabilities contain values that the stateless schema has no type for, such as null. */
export const haveUnsupportedValues = (capabilities: unknown): boolean =>
	hasUnsupported(objectOf(capabilities));

export const UNSUPPORTED_VALUES = 'null and fractions in capabilities';

export type RequestMeta = {
	readonly info: JsonObject;
	readonly capabilities: JsonObject;
	readonly logLevel?: string | undefined;
};

/** Whether a request belongs to the stateless era, as its method or `_meta` shows. */
export const isStatelessRequest = (method: string | undefined, params: unknown): boolean =>
	method === 'server/discover' ||
	[PROTOCOL_VERSION, CLIENT_CAPABILITIES].some(key => key in objectOf(objectOf(params)._meta));

/** The error for invalid `_meta` in a stateless request; undefined if it is valid. */
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
		// The conformance suite requires the list of server/discover. Older versions need a handshake
		// instead.
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

/** Removes members from `_meta`, and `_meta` itself if it becomes empty. */
function withoutMetaKeys(object: JsonObject, ...keys: readonly string[]): JsonObject {
	if (!isObject(object._meta)) return object;
	const meta = without(object._meta, ...keys);
	if (meta === object._meta) return object;
	return Object.keys(meta).length > 0 ? {...object, _meta: meta} : without(object, '_meta');
}

export const withoutRequestMeta = (params: JsonObject): JsonObject =>
	withoutMetaKeys(
		restoreOriginalsAt(CLIENT_CAPABILITIES_AT, params),
		PROTOCOL_VERSION,
		CLIENT_INFO,
		CLIENT_CAPABILITIES,
		LOG_LEVEL,
	);

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

const validImplementation = (info: JsonObject): JsonObject =>
	typeof info.name === 'string' && typeof info.version === 'string'
		? info
		: {...info, name: toText(info.name ?? 'unknown'), version: toText(info.version ?? '0')};

const statelessCapabilities = (capabilities: JsonObject): JsonObject =>
	mapMember(without(capabilities, 'tasks'), 'roots', roots =>
		isObject(roots) ? without(roots, 'listChanged') : roots,
	);

const cacheableMethods = new Set([
	'tools/list',
	'prompts/list',
	'resources/list',
	'resources/templates/list',
	'resources/read',
	'server/discover',
]);

/** Converts a handshake upstream's result for a stateless client. A lifetime of 0 ms is always valid. */
export function toStatelessResult(method: string, result: JsonObject, serverInfo: unknown): JsonObject {
	const meta = objectOf(result._meta);
	const caching = cacheableMethods.has(method) ? {ttlMs: 0, cacheScope: 'private'} : {};
	const info = isObject(serverInfo) ? {[SERVER_INFO]: validImplementation(serverInfo)} : {};
	return {resultType: 'complete', ...result, ...caching, _meta: {...meta, ...info}};
}

export const toHandshakeResult = (result: JsonObject): JsonObject =>
	withoutMetaKeys(without(result, 'resultType', 'ttlMs', 'cacheScope'), SERVER_INFO);

export function toHandshakeNotification(body: JsonObject): JsonObject {
	const params = objectOf(body.params);
	const plain = withoutMetaKeys(params, SUBSCRIPTION_ID);
	if (plain === params) return body;
	return Object.keys(plain).length > 0 ? {...body, params: plain} : without(body, 'params');
}

export const toStatelessError = (error: JsonObject): JsonObject =>
	error.code === -32002 ? {...error, code: -32602} : error;

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

export function toInputRequest(method: string, params: unknown): JsonObject {
	const plain = without(objectOf(params), '_meta', 'task', 'elicitationId');
	return Object.keys(plain).length > 0 ? {method, params: plain} : {method};
}

/** Converts an input request to the params of a server request, where elicitation by URL requires an id. */
export function toServerRequestParams(method: unknown, params: unknown, id: string): JsonObject {
	const plain = objectOf(params);
	if (method === 'sampling/createMessage') return toHandshakeSampling(plain);
	return plain.mode === 'url' ? {...plain, elicitationId: id} : plain;
}
