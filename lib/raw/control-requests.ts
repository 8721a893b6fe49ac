import type {IncomingHttpHeaders} from 'node:http';
import {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {messageTooLarge} from '../http/errors.js';
import type {HttpError} from '../http/http-error.js';
import {statelessHttpStatus} from '../http/rpc-status.js';
import {unsupportedVersionMessage} from '../protocol/http-headers.js';
import {tooComplex} from '../protocol/too-complex.js';
import {toDiscoverResult, toStatelessResult} from '../protocol/v2026-07-28.js';
import {clientVersionFor, isHandshakeVersion, OLDEST_HANDSHAKE} from '../protocol/version.js';
import {isStatelessPost, validateStatelessPost} from '../transports/http-server/stateless-request.js';
import {type JsonObject, objectOf} from '../util/json.js';
import {type ControlTargets, callControlTool, controlToolList} from './control-tools.js';

export type ControlRequestOptions = ControlTargets & {readonly version: string};

/** The HTTP reply to a message: a response with its status, status 202 without a response, or an error. */
export type ControlResponse = {readonly status: number; readonly response: Envelope} | 'accepted' | HttpError;

/** Handles one message of a client. There are no sessions, so no state is stored. */
export async function handleControlRequest(
	envelope: Envelope,
	headers: IncomingHttpHeaders,
	options: ControlRequestOptions,
): Promise<ControlResponse> {
	const {flaw, id, method} = envelope.head;
	if (flaw === 'not JSON')
		return {status: 400, id: 'null', code: -32700, message: 'Parse error: the body is not JSON'};
	if (flaw === 'too complex') return messageTooLarge(tooComplex('The client'), id ?? 'null');
	if (flaw !== undefined)
		return {status: 400, id: id ?? 'null', code: -32600, message: `Invalid Request: ${flaw}`};
	const isStateless = isStatelessPost(envelope, headers);
	const rejection = isStateless ? validateStatelessPost(envelope, headers) : rejectVersion(headers, id);
	if (rejection) return rejection;
	if (id === undefined || method === undefined) return 'accepted';
	const outcome = await callMethod(method, objectOf(envelope.body.params), options);
	if ('error' in outcome) {
		const response = Envelope.response(id, 'error', outcome.error);
		return {status: isStateless ? statelessHttpStatus(method, response) : 200, response};
	}
	const result = isStateless
		? toStatelessResult(method, outcome.result, serverInfo(options))
		: outcome.result;
	return {status: 200, response: Envelope.response(id, 'result', result)};
}

function rejectVersion(headers: IncomingHttpHeaders, id: string | undefined): HttpError | undefined {
	const version = headers['mcp-protocol-version'];
	const message = unsupportedVersionMessage(Array.isArray(version) ? version.join(', ') : version);
	return message === undefined ? undefined : {status: 400, id, code: -32600, message};
}

type MethodOutcome = {readonly result: JsonObject} | {readonly error: JsonObject};

async function callMethod(
	method: string,
	params: JsonObject,
	options: ControlRequestOptions,
): Promise<MethodOutcome> {
	switch (method) {
		case 'initialize':
			return {result: initializeResult(params.protocolVersion, options)};
		case 'server/discover':
			return {result: toDiscoverResult(initializeResult(undefined, options))};
		case 'ping':
			return {result: {}};
		case 'tools/list':
			return {result: {tools: controlToolList}};
		case 'tools/call':
			return callToolMethod(params, options);
		default:
			return {error: {code: -32601, message: `Method not found: ${method}`}};
	}
}

const serverInfo = ({version}: ControlRequestOptions): JsonObject => ({name: 'rawprox', version});

/** Responds with the requested version if it is supported, since the results are the same in all versions. */
const initializeResult = (requestedVersion: unknown, options: ControlRequestOptions): JsonObject => ({
	protocolVersion:
		requestedVersion === undefined || isHandshakeVersion(requestedVersion)
			? (requestedVersion ?? OLDEST_HANDSHAKE)
			: clientVersionFor(requestedVersion),
	capabilities: {tools: {}},
	serverInfo: serverInfo(options),
});

async function callToolMethod(
	{name, arguments: args}: JsonObject,
	options: ControlRequestOptions,
): Promise<MethodOutcome> {
	try {
		const text = await callControlTool(name, args, options);
		return {result: {content: [{type: 'text', text}]}};
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		const {message, remedy} = error;
		const data = {source: 'bridge', kind: 'invalid_params', ...(remedy === '' ? {} : {remedy})};
		return {error: {code: -32602, message: message.replace(/\.$/, ''), data}};
	}
}
