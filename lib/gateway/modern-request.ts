import type {IncomingHttpHeaders} from 'node:http';
import type {Envelope} from '../envelope.js';
import type {Refused} from '../http/refuse.js';
import {shortened} from '../printable.js';
import {namedBy, textOfHeader} from '../protocol/http-hop.js';
import {type JsonObject, objectOf, worded} from '../protocol/json.js';
import type {ToolParameters} from '../protocol/tool-parameters.js';
import {CLIENT_CAPABILITIES, envelopeProblem, PROTOCOL_VERSION} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';
import {isModernMessage} from '../transports/modern-message.js';
import {memberRange} from '../wire/member.js';

/** The longest value that is compared with a header, in bytes: more than all headers of a request may have. */
const MAX_COMPARED = 65_536;

/** Whether a message without a session is one of the era that has none. */
export function isModernPost(envelope: Envelope, headers: IncomingHttpHeaders): boolean {
	const {method, flaw} = envelope.head;
	// Only now is it known that there is a body to look at.
	if (method === undefined || flaw !== undefined) return false;
	if (isModernMessage(envelope)) return true;
	// A client that shakes hands may already name in a header what it hopes for.
	return headers['mcp-protocol-version'] === MODERN && method !== 'initialize';
}

/** Why a request of that era is refused: headers and message have to say the same, for those who only read headers. */
export function modernProblem(
	envelope: Envelope,
	headers: IncomingHttpHeaders,
	parameters?: ToolParameters,
): Refused | undefined {
	const {id, method = ''} = envelope.head;
	const {bytes} = envelope;
	const meta = metaOf(bytes);
	const version = meta[PROTOCOL_VERSION];
	// First of all: of two versions that are not the same, one is not even meant.
	if (id !== undefined && version !== undefined && headers['mcp-protocol-version'] !== version)
		return mismatch(id, 'MCP-Protocol-Version', headers['mcp-protocol-version'], version);
	const problem = id === undefined ? undefined : envelopeProblem({_meta: meta});
	if (problem) return refused(id, problem);
	if (method === 'initialize')
		return {status: 404, id, code: -32601, message: 'Method not found: initialize'};
	if (headers['mcp-method'] !== method) return mismatch(id, 'Mcp-Method', headers['mcp-method'], method);
	const name = namedBy.get(method);
	if (name === undefined) return;
	const given = headers['mcp-name'];
	const wanted = valueAt(bytes, 'params', name);
	const isSame = typeof given === 'string' && textOfHeader(given) === wanted;
	if (!isSame) return mismatch(id, 'Mcp-Name', given, wanted);
	if (method !== 'tools/call' || !parameters?.hasSome) return;
	const other = parameters.disagreement(envelope.body.params, headers);
	return other && mismatch(id, other.header, other.given, other.wanted);
}

/** The members of `_meta` that every request has to have. The value of the second one does not matter here. */
function metaOf(bytes: Buffer): JsonObject {
	const at = memberRange(bytes, 'params', '_meta');
	if (!at) return {};
	const meta = bytes.subarray(...at);
	const hasCapabilities = memberRange(meta, CLIENT_CAPABILITIES) !== undefined;
	const version = valueAt(meta, PROTOCOL_VERSION);
	return {
		...(version === undefined ? {} : {[PROTOCOL_VERSION]: version}),
		...(hasCapabilities ? {[CLIENT_CAPABILITIES]: {}} : {}),
	};
}

/** A value inside a message. Of one over the limit, its first characters: no header is equal to them. */
function valueAt(bytes: Buffer, ...path: readonly string[]): unknown {
	const at = memberRange(bytes, ...path);
	if (!at) return;
	const [start, end] = at;
	if (end - start > MAX_COMPARED) return shortened(bytes.toString('utf8', start, start + MAX_COMPARED));
	return JSON.parse(bytes.toString('utf8', start, end));
}

function mismatch(id: string | undefined, header: string, given: unknown, wanted: unknown): Refused {
	const what = given === undefined ? `${header} is missing` : `${header} is ${worded(given)}`;
	return refused(id, {
		code: -32020,
		message: `Header mismatch: ${what}, and the message says ${worded(wanted)}`,
	});
}

const refused = (id: string | undefined, {code, message, data}: JsonObject): Refused => ({
	status: 400,
	id,
	code: Number(code),
	message: String(message),
	...(data === undefined ? {} : {facts: objectOf(data)}),
});
