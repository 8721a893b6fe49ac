import type {IncomingHttpHeaders} from 'node:http';
import type {Envelope} from '../envelope.js';
import type {Refused} from '../http/refuse.js';
import {namedBy, textOfHeader} from '../protocol/http-hop.js';
import {type JsonObject, objectOf, worded} from '../protocol/json.js';
import type {ToolParameters} from '../protocol/tool-parameters.js';
import {envelopeProblem, isModernRequest, PROTOCOL_VERSION} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';

/** Whether a message without a session is one of the era that has none. */
export function isModernPost(envelope: Envelope, headers: IncomingHttpHeaders): boolean {
	const {method, flaw} = envelope.head;
	// Only now is it known that there is a body to look at.
	if (method === undefined || flaw !== undefined) return false;
	if (isModernRequest(method, envelope.body.params)) return true;
	// A client that shakes hands may already name in a header what it hopes for.
	return headers['mcp-protocol-version'] === MODERN && method !== 'initialize';
}

/** Why a request of that era is refused: headers and message have to say the same, for those who only read headers. */
export function modernProblem(
	{head: {id, method = ''}, body}: Envelope,
	headers: IncomingHttpHeaders,
	parameters?: ToolParameters,
): Refused | undefined {
	const params = objectOf(body.params);
	const version = objectOf(params._meta)[PROTOCOL_VERSION];
	// First of all: of two versions that are not the same, one is not even meant.
	if (id !== undefined && version !== undefined && headers['mcp-protocol-version'] !== version)
		return mismatch(id, 'MCP-Protocol-Version', headers['mcp-protocol-version'], version);
	const problem = id === undefined ? undefined : envelopeProblem(params);
	if (problem) return refused(id, problem);
	if (method === 'initialize')
		return {status: 404, id, code: -32601, message: 'Method not found: initialize'};
	if (headers['mcp-method'] !== method) return mismatch(id, 'Mcp-Method', headers['mcp-method'], method);
	const name = namedBy.get(method);
	if (name === undefined) return;
	const given = headers['mcp-name'];
	const isSame = typeof given === 'string' && textOfHeader(given) === params[name];
	if (!isSame) return mismatch(id, 'Mcp-Name', given, params[name]);
	const other = method === 'tools/call' ? parameters?.disagreement(params, headers) : undefined;
	return other && mismatch(id, other.header, other.given, other.wanted);
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
