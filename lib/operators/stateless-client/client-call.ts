import {editMessage} from '../../core/edit-message.js';
import {Envelope} from '../../core/envelope.js';
import {cancelledRequestId, type PendingCall} from '../../core/requests/call-table.js';
import type {StageOutputs} from '../../core/stage.js';
import {isLogLevel} from '../../protocol/log-levels.js';
import {withOriginals} from '../../protocol/originals.js';
import {escapePointer, stripUnsupported} from '../../protocol/plain-json.js';
import {requestMetaOf, toInputRequest, toStatelessResult} from '../../protocol/v2026-07-28.js';
import {isObject, type JsonObject, listOf, objectOf, toText, without} from '../../util/json.js';
import {ExactNumbers} from '../../wire/exact-numbers.js';
import {canonicalId, unquotedId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';

/** A server request that waits for its response within a call. */
type ParkedServerRequest = {
	readonly id: string;
	readonly key: string | undefined;
	readonly method: string;
	readonly request: Envelope;
};

/** A request of a stateless client that is pending at a handshake upstream. */
export type StatelessCall = PendingCall & {
	/** The id of the client's latest retry. */
	id: string;
	readonly upstreamId: string;
	readonly method: string;
	/** The client capabilities for server requests. Others are not stored, because they may be long. */
	readonly capabilities: readonly string[];
	readonly logLevel: string | undefined;
	/** The progress token of the client's latest retry. */
	token: string | undefined;
	readonly upstreamToken: string | undefined;
	/** Whether the call waits for a retry with input. */
	isParked: boolean;
	/** Whether the client has cancelled the call. A late response is forwarded, but server requests are not. */
	isAbandoned: boolean;
	/** Whether the upstream has finished the call with an error, so that the retry is a new call. */
	readonly isFinished: boolean;
	/** The response, if it arrived while the call was parked. */
	response: Envelope | undefined;
	/** Pending server requests, by their key in `inputRequests`. */
	readonly serverRequests: Map<string, ParkedServerRequest>;
};

/** Methods whose results may require input. */
const resumableMethods: readonly unknown[] = ['tools/call', 'prompts/get', 'resources/read'];
/** The server requests, with the client capability that each needs. */
export const serverRequestCapabilities = new Map([
	['roots/list', 'roots'],
	['sampling/createMessage', 'sampling'],
	['elicitation/create', 'elicitation'],
]);

export function createCall({head, body, bytes}: Envelope, isFinished = false): StatelessCall {
	const {id = '', key = '', method = ''} = head;
	const {capabilities, logLevel: level} = requestMetaOf(objectOf(body.params));
	const used = [...serverRequestCapabilities.values()].filter(capability => capability in capabilities);
	const logLevel = isLogLevel(level) ? level : undefined;
	const token = callProgressToken(bytes);
	return {
		id,
		key,
		upstreamId: id,
		upstreamKey: key,
		method,
		capabilities: used,
		logLevel,
		token,
		upstreamToken: token,
		isParked: false,
		isAbandoned: false,
		isFinished,
		response: undefined,
		serverRequests: new Map(),
	};
}

/** The progress token of a request, as JSON text. */
export const callProgressToken = (request: Buffer): string | undefined =>
	memberText(request, 'params', '_meta', 'progressToken');

/** The `inputRequests` key of a server request: the unquoted id, or the raw id if that key is in use. */
const inputNameFor = (id: string, {serverRequests}: StatelessCall): string =>
	serverRequests.has(unquotedId(id)) ? id : unquotedId(id);

export function addServerRequest(call: StatelessCall, request: Envelope, id: string, method: string): void {
	call.serverRequests.set(inputNameFor(id, call), {id, key: request.head.key, method, request});
}

export type RequiredInput = {
	readonly requests: JsonObject;
	/** Values that the stateless schema cannot carry, by JSON pointer into the result. */
	readonly removed: ReadonlyMap<string, unknown>;
	/** Preserves the notation of numbers. */
	readonly exact: ExactNumbers;
};

export function requiredInputOf({serverRequests}: StatelessCall): RequiredInput {
	const exact = new ExactNumbers();
	const removed = new Map<string, unknown>();
	const requests = [...serverRequests].map(([name, {method, request}]) => {
		const {params} = objectOf(exact.parse(request.line.toString()));
		const pointer = `/inputRequests/${escapePointer(name)}/params`;
		const fitted = withFittedMetadata(objectOf(params), objectOf(request.body.params), pointer, removed);
		return [name, toInputRequest(method, fitted)];
	});
	return {requests: Object.fromEntries(requests), removed, exact};
}

/** The params of a server request without `metadata` values that the stateless schema does not allow. */
function withFittedMetadata(
	params: JsonObject,
	{metadata}: JsonObject,
	pointer: string,
	removed: Map<string, unknown>,
): JsonObject {
	if (metadata === undefined) return params;
	const original = {metadata};
	const fitted = stripUnsupported(original, pointer, removed);
	return fitted === original ? params : {...without(params, 'metadata'), ...fitted};
}

/** The response that a call needs input. It is not final, because the call stays pending upstream. */
export function inputRequiredResponse(
	{id}: StatelessCall,
	{requests, removed, exact}: RequiredInput,
	requestState: string,
	serverInfo: unknown,
): Envelope {
	const members = {resultType: 'input_required', inputRequests: requests, requestState};
	const result = {...toStatelessResult('', {}, serverInfo), ...members};
	const json = exact.stringify(removed.size > 0 ? withOriginals(result, removed) : result);
	return Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"result":${json}}`);
}

/** Bytes that a parked call retains. */
export function callSize({serverRequests, response}: StatelessCall): number {
	let bytes = response?.size ?? 0;
	for (const {request} of serverRequests.values()) bytes += request.size;
	return bytes;
}

/** Fails the server requests of an evicted call. Returns whether the call was still pending upstream. */
export function abandonCall(call: StatelessCall, {toUpstream}: StageOutputs): boolean {
	// The id of a call with a response may be reused by another call.
	const isPending = call.response === undefined && !call.isFinished;
	const pendingRequests = [...call.serverRequests.values()];
	call.isAbandoned = true;
	call.response = undefined;
	call.serverRequests.clear();
	const error = {code: -32603, message: 'The client did not retry the call with the requested input.'};
	for (const {id, request} of pendingRequests)
		toUpstream(Envelope.response(id, 'error', error, request.origin));
	return isPending;
}

/** The URL elicitations of an error as required input; undefined if there are none. */
export function urlElicitationsOf({data}: JsonObject): RequiredInput | undefined {
	const elicitations = listOf(objectOf(data).elicitations).filter(isObject);
	if (elicitations.length === 0) return;
	const requests = elicitations.map(params => [
		toText(params.elicitationId),
		toInputRequest('elicitation/create', params),
	]);
	return {requests: Object.fromEntries(requests), removed: new Map(), exact: new ExactNumbers()};
}

export function cancelServerRequest(calls: Iterable<StatelessCall>, cancellation: Envelope): undefined {
	const requestId = cancelledRequestId(cancellation);
	if (requestId === undefined) return;
	const cancelled = canonicalId(requestId);
	for (const {serverRequests} of calls)
		for (const [name, {key}] of serverRequests) if (key === cancelled) serverRequests.delete(name);
}

/** The latest call that can carry a server request. The actual call is unknown; the latest is most likely. */
export const latestCallWith = (
	capability: string,
	calls: Iterable<StatelessCall>,
): StatelessCall | undefined =>
	[...calls].findLast(
		({method, capabilities, isAbandoned}) =>
			!isAbandoned && resumableMethods.includes(method) && capabilities.includes(capability),
	);

/** Progress with the token of the client's latest retry; undefined while the call is parked. */
export function toClientProgress(calls: Iterable<StatelessCall>, envelope: Envelope): Envelope | undefined {
	const upstreamToken = memberText(envelope.bytes, 'params', 'progressToken');
	const call =
		upstreamToken === undefined ? undefined : [...calls].find(each => each.upstreamToken === upstreamToken);
	if (!call) return envelope;
	const {token, isParked} = call;
	if (isParked || token === undefined) return;
	if (token === upstreamToken) return envelope;
	return editMessage(envelope, body => ({
		...body,
		params: {...objectOf(body.params), progressToken: JSON.parse(token)},
	}));
}
