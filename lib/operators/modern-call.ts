import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import {isObject, type JsonObject, listOf, objectOf, without, worded} from '../protocol/json.js';
import {isLevel} from '../protocol/log-levels.js';
import {withOriginals} from '../protocol/original.js';
import {escaped, fittedObject} from '../protocol/plain-json.js';
import {callerOf, inputRequest, modernResult} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {canonicalId, idWord} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {cancelledId, type PendingCall} from './call-table.js';

/** A question of a server that belongs to a call. */
export type Question = {
	readonly id: string;
	readonly key: string | undefined;
	readonly method: string;
	readonly request: Envelope;
};

/** A request of a modern client that a handshake server has been asked. */
export type ModernCall = PendingCall & {
	/** Its id, as the client waits for the answer: another one after each round of input. */
	id: string;
	readonly told: string;
	readonly method: string;
	/** Those capabilities of the client that a server may use within the call. The others may be long, and are not kept. */
	readonly can: readonly string[];
	readonly logLevel: string | undefined;
	/** The token of its progress as the client knows it, which changes with the id, and as the server does. */
	token: string | undefined;
	readonly toldToken: string | undefined;
	/** Whether the client is away, to answer what the server asked. */
	isParked: boolean;
	/** Whether the client has given it up. It may be answered all the same, but carries no questions any more. */
	isGivenUp: boolean;
	/** Whether it is over for the server, and has to be made anew when the client is back. */
	readonly isOver: boolean;
	/** The answer, if it came while the call was parked. */
	answer: Envelope | undefined;
	/** What the server asks, by the name that the client is told. */
	readonly questions: Map<string, Question>;
};

/** Requests whose answers may ask for input. */
const resumable: readonly unknown[] = ['tools/call', 'prompts/get', 'resources/read'];
/** What a server may ask, with the capability that the client has to have for it. */
export const askable = new Map([
	['roots/list', 'roots'],
	['sampling/createMessage', 'sampling'],
	['elicitation/create', 'elicitation'],
]);

export function newCall({head, body, bytes}: Envelope, isOver = false): ModernCall {
	const {id = '', key = '', method = ''} = head;
	const {capabilities, logLevel: level} = callerOf(objectOf(body.params));
	const can = [...askable.values()].filter(capability => capability in capabilities);
	const logLevel = isLevel(level) ? level : undefined;
	const token = tokenOf(bytes);
	return {
		id,
		key,
		told: id,
		toldKey: key,
		method,
		can,
		logLevel,
		token,
		toldToken: token,
		isParked: false,
		isGivenUp: false,
		isOver,
		answer: undefined,
		questions: new Map(),
	};
}

/** The token that a request wants its progress under, as text. */
export const tokenOf = (request: Buffer): string | undefined =>
	memberText(request, 'params', '_meta', 'progressToken');

/** The name for a question: its id, unless another has it that only looks the same. */
const nameFor = (id: string, {questions}: ModernCall): string =>
	questions.has(idWord(id)) ? id : idWord(id);

/** Lets a server request wait for the client within a call. */
export function addQuestion(call: ModernCall, request: Envelope, id: string, method: string): void {
	call.questions.set(nameFor(id, call), {id, key: request.head.key, method, request});
}

/** What a client is to give before its call can go on. */
export type Needed = {
	readonly requests: JsonObject;
	/** What had to be left out of them, by its place in the result. */
	readonly removed: ReadonlyMap<string, unknown>;
	/** Keeps numbers as they were written. */
	readonly exact: ExactNumbers;
};

/** What the server asks within a call, as the client is told. */
export function questionsOf({questions}: ModernCall): Needed {
	const exact = new ExactNumbers();
	const removed = new Map<string, unknown>();
	const requests = [...questions].map(([name, {method, request}]) => {
		const {params} = objectOf(exact.parse(request.line.toString()));
		const pointer = `/inputRequests/${escaped(name)}/params`;
		const fit = withFittedMetadata(objectOf(params), objectOf(request.body.params), pointer, removed);
		return [name, inputRequest(method, fit)];
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
	const given = {metadata};
	const fit = fittedObject(given, pointer, removed);
	return fit === given ? params : {...without(params, 'metadata'), ...fit};
}

/** The answer that a call needs input. The call goes on under its id all the while, so that it is not the last. */
export function inputRequired(
	{id}: ModernCall,
	{requests, removed, exact}: Needed,
	requestState: string,
	serverInfo: unknown,
): Envelope {
	const needed = {resultType: 'input_required', inputRequests: requests, requestState};
	const result = {...modernResult('', {}, serverInfo), ...needed};
	const whole = exact.write(removed.size > 0 ? withOriginals(result, removed) : result);
	return Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"result":${whole}}`);
}

/** How many bytes are kept for a call while its client is away. */
export function sizeOf({questions, answer}: ModernCall): number {
	let bytes = answer?.size ?? 0;
	for (const {request} of questions.values()) bytes += request.size;
	return bytes;
}

/** Ends a call that its client will not come back to: its server requests get an error. Returns whether it was pending. */
export function abandon(call: ModernCall, {toUpstream}: Outlets): boolean {
	// The id of a call that has its response may be that of another one by now.
	const isPending = call.answer === undefined && !call.isOver;
	const open = [...call.questions.values()];
	call.isGivenUp = true;
	call.answer = undefined;
	call.questions.clear();
	const error = {code: -32603, message: 'The client did not come back with an answer.'};
	for (const {id, request} of open) toUpstream(Envelope.answer(id, 'error', error, request.origin));
	return isPending;
}

/** Where an error sends the client before it may ask again, as questions; nothing, if it does not say. */
export function placesToGo({data}: JsonObject): Needed | undefined {
	const places = listOf(objectOf(data).elicitations).filter(isObject);
	if (places.length === 0) return;
	const requests = places.map(params => [
		worded(params.elicitationId),
		inputRequest('elicitation/create', params),
	]);
	return {requests: Object.fromEntries(requests), removed: new Map(), exact: new ExactNumbers()};
}

/** The server no longer wants to know. */
export function withdraw(calls: Iterable<ModernCall>, cancellation: Envelope): undefined {
	const requestId = cancelledId(cancellation);
	if (requestId === undefined) return;
	const cancelled = canonicalId(requestId);
	for (const {questions} of calls)
		for (const [name, {key}] of questions) if (key === cancelled) questions.delete(name);
}

/** The last call that can carry a question: what asks is not told, and the last is the likeliest. */
export const latestWith = (capability: string, calls: Iterable<ModernCall>): ModernCall | undefined =>
	[...calls].findLast(
		({method, can, isGivenUp}) => !isGivenUp && resumable.includes(method) && can.includes(capability),
	);

/** Progress under the token that the client has now; nothing while the client is away. */
export function progressFor(calls: Iterable<ModernCall>, envelope: Envelope): Envelope | undefined {
	const told = memberText(envelope.bytes, 'params', 'progressToken');
	const call = [...calls].find(({toldToken}) => toldToken !== undefined && toldToken === told);
	if (!call) return envelope;
	const {token, isParked} = call;
	if (isParked || token === undefined) return;
	if (token === told) return envelope;
	return change(envelope, body => ({
		...body,
		params: {...objectOf(body.params), progressToken: JSON.parse(token)},
	}));
}
