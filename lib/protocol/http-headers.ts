import type {Envelope, Headers} from '../core/envelope.js';
import {memberText} from '../wire/member.js';
import {handshakeVersions, isVersion, STATELESS, type Version} from './version.js';

/** Members of params that name what a request is about, which the modern era has in a header, too. */
export const nameParamByMethod: ReadonlyMap<string, string> = new Map([
	['tools/call', 'name'],
	['prompts/get', 'name'],
	['resources/read', 'uri'],
]);

/** Whether the headers of a message depend on nothing but the version that the upstream speaks. */
export const dependOnVersionOnly = ({head: {method}}: Envelope, version: Version | undefined): boolean =>
	version !== STATELESS && method !== 'server/discover' && method !== 'initialize';

/** The headers of a message that belong to the hop to an upstream that speaks this version, if that is known. */
export function protocolHeaders({head: {method}, bytes}: Envelope, version: Version | undefined): Headers {
	const isStateless = version === STATELESS || method === 'server/discover';
	if (!isStateless) {
		// None in a handshake, which is about just that.
		return version === undefined || method === 'initialize' ? {} : {'mcp-protocol-version': version};
	}
	const name = nameParamByMethod.get(method ?? '');
	const text = name === undefined ? undefined : memberText(bytes, 'params', name);
	return {
		'mcp-protocol-version': STATELESS,
		...(method === undefined ? {} : {'mcp-method': method}),
		...(text?.startsWith('"') ? {'mcp-name': encodeHeader(JSON.parse(text))} : {}),
	};
}

const PARAMETER_PREFIX = 'mcp-param-';

/** Of headers, those that tell a parameter of a modern request: only its server knows which there are. */
export function parameterHeaders(headers: {readonly [name: string]: string | string[] | undefined}): Headers {
	const found: {[name: string]: string} = {};
	for (const [name, value] of Object.entries(headers))
		if (name.startsWith(PARAMETER_PREFIX) && typeof value === 'string') found[name] = value;
	return found;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;
/** What stands in a header as it is: neither spaces at its ends nor anything that is not visible. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** A text as it may stand in a header. */
export const encodeHeader = (text: string): string =>
	PLAIN.test(text) && !ENCODED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The text that a header stands for. */
export function decodeHeader(header: string): string {
	const [, encoded] = ENCODED.exec(header) ?? [];
	return encoded === undefined ? header : Buffer.from(encoded, 'base64').toString();
}

/** Why a request with this version is answered with status 400; undefined if it is not. */
export function unsupportedVersionMessage(version: string | undefined): string | undefined {
	if (version === undefined || isVersion(version)) return;
	const supported = handshakeVersions.toReversed().join(', ');
	return `Bad Request: unsupported protocol version ${version} (supported: ${supported})`;
}

/** Whether a client takes an event without data, which only says where its stream can be taken up again. */
export const acceptsPrimingEvent = (version: Version | undefined): boolean =>
	version !== undefined && version >= '2025-11-25' && version !== STATELESS;
