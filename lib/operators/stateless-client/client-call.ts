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

/** A question of a server that belongs to a call. */
type ParkedServerRequest = {
	readonly id: string;
	readonly key: string | undefined;
	readonly method: string;
	readonly request: Envelope;
};

/** A request of a modern client that a handshake server has been asked. */
export type StatelessCall = PendingCall & {
	/** Its id, as the client waits for the answer: another one after each round of input. */
	id: string;
	readonly upstreamId: string;
	readonly method: string;
	/** Those capabilities of the client that a server may use within the call. The others may be long, and are not kept. */
	readonly capabilities: readonly string[];
	readonly logLevel: string | undefined;
	/** The token of its progress as the client knows it, which changes with the id, and as the server does. */
	token: string | undefined;
	readonly upstreamToken: string | undefined;
	/** Whether the client is away, to answer what the server asked. */
	isParked: boolean;
	/** Whether the client has given it up. It may be answered all the same, but carries no questions any more. */
	isAbandoned: boolean;
	/** Whether it is over for the server, and has to be made anew when the client is back. */
	readonly isFinished: boolean;
	/** The answer, if it came while the call was parked. */
	response: Envelope | undefined;
	/** What the server asks, by the name that the client is told. */
	readonly serverRequests: Map<string, ParkedServerRequest>;
};

/** Requests whose answers may ask for input. */
const resumableMethods: readonly unknown[] = ['tools/call', 'prompts/get', 'resources/read'];
/** What a server may ask, with the capability that the client has to have for it. */
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

/** The token that a request wants its progress under, as text. */
export const callProgressToken = (request: Buffer): string | undefined =>
	memberText(request, 'params', '_meta', 'progressToken');

/** The name for a question: its id, unless another has it that only looks the same. */
const inputNameFor = (id: string, {serverRequests}: StatelessCall): string =>
	serverRequests.has(unquotedId(id)) ? id : unquotedId(id);

/** Lets a server request wait for the client within a call. */
export function addServerRequest(call: StatelessCall, request: Envelope, id: string, method: string): void {
	call.serverRequests.set(inputNameFor(id, call), {id, key: request.head.key, method, request});
}

/** What a client is to give before its call can go on. */
export type RequiredInput = {
	readonly requests: JsonObject;
	/** What had to be left out of them, by its place in the result. */
	readonly removed: ReadonlyMap<string, unknown>;
	/** Keeps numbers as they were written. */
	readonly exact: ExactNumbers;
};

/** What the server asks within a call, as the client is told. */
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

/** The params of a question, with `metadata` as the modern schema has it. Which that is, the plain values tell. */
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

/** The answer that a call needs input. The call goes on under its id all the while, so that it is not the last. */
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

/** How many bytes are kept for a call while its client is away. */
export function callSize({serverRequests, response}: StatelessCall): number {
	let bytes = response?.size ?? 0;
	for (const {request} of serverRequests.values()) bytes += request.size;
	return bytes;
}

/** Ends a call that its client will not come back to: its server requests get an error. Returns whether it was pending. */
export function abandonCall(call: StatelessCall, {toUpstream}: StageOutputs): boolean {
	// The id of a call that has its response may be that of another one by now.
	const isPending = call.response === undefined && !call.isFinished;
	const unanswered = [...call.serverRequests.values()];
	call.isAbandoned = true;
	call.response = undefined;
	call.serverRequests.clear();
	const error = {code: -32603, message: 'The client did not come back with an answer.'};
	for (const {id, request} of unanswered) toUpstream(Envelope.response(id, 'error', error, request.origin));
	return isPending;
}

/** Where an error sends the client before it may ask again, as questions; nothing, if it does not say. */
export function urlElicitationsOf({data}: JsonObject): RequiredInput | undefined {
	const elicitations = listOf(objectOf(data).elicitations).filter(isObject);
	if (elicitations.length === 0) return;
	const requests = elicitations.map(params => [
		toText(params.elicitationId),
		toInputRequest('elicitation/create', params),
	]);
	return {requests: Object.fromEntries(requests), removed: new Map(), exact: new ExactNumbers()};
}

/** The server no longer wants to know. */
export function cancelServerRequest(calls: Iterable<StatelessCall>, cancellation: Envelope): undefined {
	const requestId = cancelledRequestId(cancellation);
	if (requestId === undefined) return;
	const cancelled = canonicalId(requestId);
	for (const {serverRequests} of calls)
		for (const [name, {key}] of serverRequests) if (key === cancelled) serverRequests.delete(name);
}

/** The last call that can carry a question: what asks is not told, and the last is the likeliest. */
export const latestCallWith = (
	capability: string,
	calls: Iterable<StatelessCall>,
): StatelessCall | undefined =>
	[...calls].findLast(
		({method, capabilities, isAbandoned}) =>
			!isAbandoned && resumableMethods.includes(method) && capabilities.includes(capability),
	);

/** Progress under the token that the client has now; nothing while the client is away. */
export function toClientProgress(calls: Iterable<StatelessCall>, envelope: Envelope): Envelope | undefined {
	const upstreamToken = memberText(envelope.bytes, 'params', 'progressToken');
	const call = [...calls].find(
		({upstreamToken: toldToken}) => toldToken !== undefined && toldToken === upstreamToken,
	);
	if (!call) return envelope;
	const {token, isParked} = call;
	if (isParked || token === undefined) return;
	if (token === upstreamToken) return envelope;
	return editMessage(envelope, body => ({
		...body,
		params: {...objectOf(body.params), progressToken: JSON.parse(token)},
	}));
}
