import type {Envelope, Headers} from '../core/envelope.js';
import {memberText} from '../wire/member.js';
import {handshakeVersions, isVersion, STATELESS, type Version} from './version.js';

/**
 * The parameter that names the subject of a request. Stateless requests repeat it in the `Mcp-Name` header.
 */
export const nameParamByMethod: ReadonlyMap<string, string> = new Map([
	['tools/call', 'name'],
	['prompts/get', 'name'],
	['resources/read', 'uri'],
]);

export const dependOnVersionOnly = ({head: {method}}: Envelope, version: Version | undefined): boolean =>
	version !== STATELESS && method !== 'server/discover' && method !== 'initialize';

/** The protocol headers of a message to an upstream. The version is undefined before the handshake. */
export function protocolHeaders({head: {method}, bytes}: Envelope, version: Version | undefined): Headers {
	const isStateless = version === STATELESS || method === 'server/discover';
	if (!isStateless) {
		// `initialize` negotiates the version, so it is sent without one.
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

/** The `Mcp-Param-*` headers of a stateless request. Only its upstream defines which are valid. */
export function parameterHeaders(headers: {readonly [name: string]: string | string[] | undefined}): Headers {
	const found: {[name: string]: string} = {};
	for (const [name, value] of Object.entries(headers))
		if (name.startsWith(PARAMETER_PREFIX) && typeof value === 'string') found[name] = value;
	return found;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;
/** Text that needs no encoding in a header: visible ASCII, with spaces only in between. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export const encodeHeader = (text: string): string =>
	PLAIN.test(text) && !ENCODED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

export function decodeHeader(header: string): string {
	const [, encoded] = ENCODED.exec(header) ?? [];
	return encoded === undefined ? header : Buffer.from(encoded, 'base64').toString();
}

/** The error message (status 400) for a request with an unsupported version; undefined if it is supported. */
export function unsupportedVersionMessage(version: string | undefined): string | undefined {
	if (version === undefined || isVersion(version)) return;
	const supported = handshakeVersions.toReversed().join(', ');
	return `Bad Request: unsupported protocol version ${version} (supported: ${supported})`;
}

/** Whether a client accepts an event without data, which only provides an id to resume its stream from. */
export const acceptsPrimingEvent = (version: Version | undefined): boolean =>
	version !== undefined && version >= '2025-11-25' && version !== STATELESS;
