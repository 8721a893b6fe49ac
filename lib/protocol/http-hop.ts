import type {Envelope, Headers} from '../envelope.js';
import {memberText} from '../wire/member.js';
import {handshakeVersions, isVersion, MODERN, type Version} from './version.js';

/** Members of params that name what a request is about, which the modern era has in a header, too. */
export const namedBy: ReadonlyMap<string, string> = new Map([
	['tools/call', 'name'],
	['prompts/get', 'name'],
	['resources/read', 'uri'],
]);

/** Whether the headers of a message depend on nothing but the version that the upstream speaks. */
export const isPlain = ({head: {method}}: Envelope, version: Version | undefined): boolean =>
	version !== MODERN && method !== 'server/discover' && method !== 'initialize';

/** The headers of a message that belong to the hop to an upstream that speaks this version, if that is known. */
export function hopHeaders({head: {method}, bytes}: Envelope, version: Version | undefined): Headers {
	const isModern = version === MODERN || method === 'server/discover';
	if (!isModern) {
		// None in a handshake, which is about just that.
		return version === undefined || method === 'initialize' ? {} : {'mcp-protocol-version': version};
	}
	const name = namedBy.get(method ?? '');
	const text = name === undefined ? undefined : memberText(bytes, 'params', name);
	return {
		'mcp-protocol-version': MODERN,
		...(method === undefined ? {} : {'mcp-method': method}),
		...(text?.startsWith('"') ? {'mcp-name': headerText(JSON.parse(text))} : {}),
	};
}

const PARAMETER = 'mcp-param-';

/** Of headers, those that tell a parameter of a modern request: only its server knows which there are. */
export function parameterHeaders(headers: {readonly [name: string]: string | string[] | undefined}): Headers {
	const found: {[name: string]: string} = {};
	for (const [name, value] of Object.entries(headers))
		if (name.startsWith(PARAMETER) && typeof value === 'string') found[name] = value;
	return found;
}

const WRAPPED = /^=\?base64\?(.*)\?=$/s;
/** What stands in a header as it is: neither spaces at its ends nor anything that is not visible. */
const SOUND = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** A text as it may stand in a header. */
export const headerText = (text: string): string =>
	SOUND.test(text) && !WRAPPED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The text that a header stands for. */
export function textOfHeader(header: string): string {
	const [, wrapped] = WRAPPED.exec(header) ?? [];
	return wrapped === undefined ? header : Buffer.from(wrapped, 'base64').toString();
}

/** Why a request with this version is answered with status 400; undefined if it is not. */
export function versionProblem(version: string | undefined): string | undefined {
	if (version === undefined || isVersion(version)) return;
	const supported = handshakeVersions.toReversed().join(', ');
	return `Bad Request: unsupported protocol version ${version} (supported: ${supported})`;
}

/** Whether a client takes an event without data, which only says where its stream can be taken up again. */
export const takesPriming = (version: Version | undefined): boolean =>
	version !== undefined && version >= '2025-11-25' && version !== MODERN;
