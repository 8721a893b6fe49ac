import {change} from '../change.js';
import type {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {type JsonObject, objectOf, without, worded} from '../protocol/json.js';
import type {Pack, ServerState} from '../run/types.js';
import {MAX_RESULT_VALUES} from '../run/value-limits.js';
import {type Span, span, type TraceContext} from '../span.js';
import {jsonWeight} from '../wire/json-weight.js';
import {memberRange, memberText} from '../wire/member.js';
import {unavailable} from './client-requests.js';
import type {Member} from './member.js';
import type {Listed} from './member-tools.js';

/** A call of a client, as its server is to hear it: under the tool's own name, in the trace that this belongs to. */
export function asMemberCall(call: Envelope, {name}: Listed, traceContext: TraceContext): Envelope {
	const at = memberRange(call.bytes, 'params', 'name');
	const named = at ? call.replaced(at, JSON.stringify(name)) : call;
	if (Object.keys(traceContext).length === 0) return named;
	return change(named, body => {
		const params = objectOf(body.params);
		return {...body, params: {...params, _meta: {...objectOf(params._meta), ...traceContext}}};
	});
}

/** Begins what is told of one call. */
export const callSpan = (log: Log, server: string, tool: string, parent: TraceContext): Span =>
	span(log, 'proxy.tool.call', {server, tool}, parent);

/** Tells how a call ended, by its answer. Of a result, no more is looked at than whether it is an error. */
export function endCall(call: Span, name: string, answer: Envelope): void {
	const {head, bytes} = answer;
	if (head.hasError) {
		call.fail(`${name} failed.`, new CallError(errorOf(answer)));
		return;
	}
	const [start, end] = memberRange(bytes, 'result') ?? [0, 0];
	const resultLength = end - start;
	if (memberText(bytes, 'result', 'isError') === 'true')
		call.fail(`${name} responded with an error.`, new ToolError(textOf(answer)), {resultLength});
	else call.succeed(`${name} has answered.`, {resultLength});
}

/** A call that has no result, under the kind of failure that it is, if that is one of bridge's. */
class CallError extends Error {
	override readonly name: string;

	constructor({message, data}: JsonObject) {
		super(worded(message));
		const {source, kind} = objectOf(data);
		this.name = source === 'bridge' ? worded(kind) : 'RpcError';
	}
}

/** A tool that says that it has failed. */
class ToolError extends Error {
	override readonly name = 'ToolError';
}

const textOf = (answer: Envelope): string => {
	const why = tooMuch(answer);
	if (why !== undefined) return `It has ${why}.`;
	const {content} = objectOf(answer.body.result);
	const [first] = Array.isArray(content) ? content : [];
	return worded(objectOf(first).text ?? content);
};

/** What the calls of one program have in common. */
export type ProgramContext = {
	readonly log: Log;
	/** The id of the client's request that runs it. */
	readonly within: string;
	readonly traceContext: TraceContext;
};

/** A server as a pack of `run`. */
export function packOf(member: Member, context: ProgramContext): Pack {
	const {name, tools, service, greeting, state, reason = 'it is still connecting'} = member;
	const {timeoutMs} = service.config;
	const description = objectOf(greeting.serverInfo).title;
	return {
		name,
		source: 'proxied',
		...(typeof description === 'string' ? {description} : {}),
		tools: tools.map(({body}) => body as Pack['tools'][number]),
		...(timeoutMs === 0 ? {} : {timeoutMs}),
		...(state === 'connected' ? {} : {unavailable: reason}),
		call: (tool, args, signal) => callOf(member, tool, args, {...context, signal}),
	};
}

async function callOf(
	member: Member,
	tool: string,
	args: JsonObject,
	{log, within, traceContext, signal}: ProgramContext & {readonly signal: AbortSignal},
): Promise<unknown> {
	const {link, name: server, state} = member;
	if (!link || state !== 'connected') throw unavailable(member);
	const call = callSpan(log, server, tool, traceContext);
	const around = {...traceContext, ...call.traceContext};
	const meta = Object.keys(around).length === 0 ? {} : {_meta: around};
	try {
		const params = {name: tool, arguments: args, ...meta};
		const answer = await link.askEnvelope('tools/call', params, {signal, within});
		endCall(call, `${server}.${tool}`, answer);
		if (!answer.head.hasError) return resultIn(answer, `${server}.${tool}`);
		throw refusedBy(server, errorOf(answer));
	} catch (error) {
		if (signal.aborted) call.fail(`${server}.${tool} was given up.`, error);
		throw error;
	}
}

/** The longest result that a program can get a value of, in bytes, attachments included. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

/** The result. Its size, and the number of its values are checked before it is parsed on the main thread. */
function resultIn(answer: Envelope, name: string): unknown {
	const [start, end] = memberRange(answer.bytes, 'result') ?? [0, 0];
	const why =
		end - start > MAX_RESULT_BYTES
			? `${end - start} bytes; the limit is ${MAX_RESULT_BYTES}`
			: tooMuch(answer);
	if (why === undefined) return answer.body.result;
	throw new Error(`${name} returned ${why}. Request less data.`);
}

/** The limit that a response exceeds for parsing on the main thread; undefined if it exceeds none. */
function tooMuch({bytes}: Envelope): string | undefined {
	// A response with fewer bytes than the limit has no more values than that, and the depth of messages is limited.
	if (bytes.length <= MAX_RESULT_VALUES || jsonWeight(bytes).values <= MAX_RESULT_VALUES) return;
	return `more than ${MAX_RESULT_VALUES} values`;
}

/** The error of a response, or one that stands for it. */
function errorOf(answer: Envelope): JsonObject {
	const why = tooMuch(answer);
	return why === undefined ? objectOf(answer.body.error) : {message: `The server sent an error with ${why}.`};
}

/** Why a call has no result. That a server is not there any more is said in the same words as always. */
function refusedBy(server: string, {code, message}: JsonObject): Error {
	const isGone = code === -31001 || code === -31004;
	return new Error(isGone ? `Server '${server}' unavailable: ${worded(message)}` : worded(message));
}

/** What a program is told of a server that asks which there are. */
export const stateOf = ({name, type, service, state, reason}: Member): ServerState => ({
	name,
	type,
	enabled: service.config.enabled,
	connected: state === 'connected',
	...(reason === undefined ? {} : {error: reason}),
});

/** Where in a trace a client's request belongs, if it says so. */
export const traceOf = (params: unknown): TraceContext => {
	const {traceparent, tracestate} = objectOf(objectOf(params)._meta);
	return {
		...(typeof traceparent === 'string' ? {traceparent} : {}),
		...(typeof tracestate === 'string' ? {tracestate} : {}),
	};
};

/** What a client says it can do, as its servers are told: the hub knows no tasks. */
export const toldCapabilities = (given: unknown): JsonObject => without(objectOf(given), 'tasks');
