import type {IncomingHttpHeaders} from 'node:http';
import type {Envelope} from '../../core/envelope.js';
import type {HttpError} from '../../http/http-error.js';
import {decodeHeader, nameParamByMethod} from '../../protocol/http-headers.js';
import {isStatelessMessage} from '../../protocol/stateless-message.js';
import type {ToolHeaderParameters} from '../../protocol/tool-header-parameters.js';
import {CLIENT_CAPABILITIES, PROTOCOL_VERSION, requestMetaError} from '../../protocol/v2026-07-28.js';
import {STATELESS} from '../../protocol/version.js';
import {type JsonObject, objectOf, toText} from '../../util/json.js';
import {shortened} from '../../util/printable.js';
import {memberRange} from '../../wire/member.js';

/** The longest value that is compared with a header, in bytes. The limit of all headers together is lower. */
const MAX_COMPARED_BYTES = 65_536;

/** Whether a message without a session id is of the stateless era. */
export function isStatelessPost(envelope: Envelope, headers: IncomingHttpHeaders): boolean {
	const {method, flaw} = envelope.head;
	// Without a flaw, the body can be parsed below.
	if (method === undefined || flaw !== undefined) return false;
	if (isStatelessMessage(envelope)) return true;
	// A client of the handshake era may send its preferred version in the header of initialize.
	return headers['mcp-protocol-version'] === STATELESS && method !== 'initialize';
}

/** Validates a stateless request. Its headers must match the message: some proxies read only headers. */
export function validateStatelessPost(
	envelope: Envelope,
	headers: IncomingHttpHeaders,
	parameters?: ToolHeaderParameters,
): HttpError | undefined {
	const {id, method = ''} = envelope.head;
	const {bytes} = envelope;
	const meta = metaOf(bytes);
	const version = meta[PROTOCOL_VERSION];
	// Checked first: with two different versions, it is unclear which rules apply.
	if (id !== undefined && version !== undefined && headers['mcp-protocol-version'] !== version)
		return headerMismatch(id, 'MCP-Protocol-Version', headers['mcp-protocol-version'], version);
	const metaError = id === undefined ? undefined : requestMetaError({_meta: meta});
	if (metaError) return badRequest(id, metaError);
	if (method === 'initialize')
		return {status: 404, id, code: -32601, message: 'Method not found: initialize'};
	if (headers['mcp-method'] !== method)
		return headerMismatch(id, 'Mcp-Method', headers['mcp-method'], method);
	const name = nameParamByMethod.get(method);
	if (name === undefined) return;
	const actual = headers['mcp-name'];
	const expected = valueAt(bytes, 'params', name);
	const isSame = typeof actual === 'string' && decodeHeader(actual) === expected;
	if (!isSame) return headerMismatch(id, 'Mcp-Name', actual, expected);
	if (method !== 'tools/call' || !parameters?.hasAny) return;
	const mismatch = parameters.mismatch(envelope.body.params, headers);
	return mismatch && headerMismatch(id, mismatch.header, mismatch.actual, mismatch.expected);
}

/** The required members of `_meta`. The content of the capabilities is not needed here. */
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

/** A value inside a message. A value over the limit is shortened, so that it cannot equal a header. */
function valueAt(bytes: Buffer, ...path: readonly string[]): unknown {
	const at = memberRange(bytes, ...path);
	if (!at) return;
	const [start, end] = at;
	if (end - start > MAX_COMPARED_BYTES)
		return shortened(bytes.toString('utf8', start, start + MAX_COMPARED_BYTES));
	return JSON.parse(bytes.toString('utf8', start, end));
}

function headerMismatch(
	id: string | undefined,
	header: string,
	actual: unknown,
	expected: unknown,
): HttpError {
	const found = actual === undefined ? `${header} is missing` : `${header} is ${toText(actual)}`;
	return badRequest(id, {
		code: -32020,
		message: `Header mismatch: ${found}, but the message contains ${toText(expected)}`,
	});
}

const badRequest = (id: string | undefined, {code, message, data}: JsonObject): HttpError => ({
	status: 400,
	id,
	code: Number(code),
	message: String(message),
	...(data === undefined ? {} : {data: objectOf(data)}),
});
