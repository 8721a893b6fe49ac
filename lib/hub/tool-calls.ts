import {change} from '../change.js';
import type {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {type JsonObject, objectOf, without, worded} from '../protocol/json.js';
import {MAX_RESULT_VALUES} from '../run/value-limits.js';
import {type Span, span, type TraceContext} from '../span.js';
import {jsonWeight} from '../wire/json-weight.js';
import {memberRange, memberText} from '../wire/member.js';
import type {Listed} from './member-tools.js';
import {resultLength} from './result-length.js';

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

/** Characters of a tool's name in a log entry: a client may call any name. */
const MAX_NAME = 200;

/** Begins what is told of one call. */
export const callSpan = (log: Log, server: string, tool: string, parent: TraceContext): Span =>
	span(log, 'proxy.tool.call', {server, tool: tool.slice(0, MAX_NAME)}, parent);

/** Logs how a call ended, by its answer. */
export function endCall(call: Span, name: string, answer: Envelope): void {
	const {head, bytes} = answer;
	if (head.hasError) {
		call.fail(`${name} failed.`, new CallError(errorOf(answer)));
		return;
	}
	const facts = {resultLength: resultLength(answer)};
	if (memberText(bytes, 'result', 'isError') === 'true')
		call.fail(`${name} responded with an error.`, new ToolError(textOf(answer)), facts);
	else call.succeed(`${name} has answered.`, facts);
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

/** The limit that a response exceeds for parsing on the main thread; undefined if it exceeds none. */
export function tooMuch({bytes}: Envelope): string | undefined {
	// A response with fewer bytes than the limit has no more values than that, and the depth of messages is limited.
	if (bytes.length <= MAX_RESULT_VALUES || jsonWeight(bytes).values <= MAX_RESULT_VALUES) return;
	return `more than ${MAX_RESULT_VALUES} values`;
}

/** The error of a response, or one that stands for it. */
export function errorOf(answer: Envelope): JsonObject {
	const why = tooMuch(answer);
	return why === undefined ? objectOf(answer.body.error) : {message: `The server sent an error with ${why}.`};
}

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
