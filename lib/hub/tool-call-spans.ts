import {editMessage} from '../core/edit-message.js';
import type {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {startSpan, type TraceContext, type TracedSpan} from '../core/span.js';
import {MAX_RESULT_VALUES} from '../run/value-limits.js';
import {type JsonObject, objectOf, toText, without} from '../util/json.js';
import {jsonComplexity} from '../wire/json-complexity.js';
import {memberRange, memberText} from '../wire/member.js';
import {resultLength} from './result-length.js';
import type {ListedItem} from './upstream-lists.js';

/** A call of a client, as its server is to hear it: under the tool's own name, in the trace that this belongs to. */
export function toUpstreamCall(call: Envelope, {name}: ListedItem, traceContext: TraceContext): Envelope {
	const range = memberRange(call.bytes, 'params', 'name');
	const renamed = range ? call.withTextAt(range, JSON.stringify(name)) : call;
	if (Object.keys(traceContext).length === 0) return renamed;
	return editMessage(renamed, body => {
		const params = objectOf(body.params);
		return {...body, params: {...params, _meta: {...objectOf(params._meta), ...traceContext}}};
	});
}

/** Characters of a tool's name in a log entry: a client may call any name. */
const MAX_NAME = 200;

/** Begins what is told of one call. */
export const callSpan = (log: Log, server: string, tool: string, parent: TraceContext): TracedSpan =>
	startSpan(log, 'proxy.tool.call', {server, tool: tool.slice(0, MAX_NAME)}, parent);

/** Logs how a call ended, by its answer. */
export function endCallSpan(toolSpan: TracedSpan, name: string, response: Envelope): void {
	const {head, bytes} = response;
	if (head.hasError) {
		toolSpan.fail(`${name} failed.`, new CallError(errorOf(response)));
		return;
	}
	const fields = {resultLength: resultLength(response)};
	if (memberText(bytes, 'result', 'isError') === 'true')
		toolSpan.fail(`${name} responded with an error.`, new ToolError(errorText(response)), fields);
	else toolSpan.succeed(`${name} has answered.`, fields);
}

/** A call that has no result, under the kind of failure that it is, if that is one of bridge's. */
class CallError extends Error {
	override readonly name: string;

	constructor({message, data}: JsonObject) {
		super(toText(message));
		const {source, kind} = objectOf(data);
		this.name = source === 'bridge' ? toText(kind) : 'RpcError';
	}
}

/** A tool that says that it has failed. */
class ToolError extends Error {
	override readonly name = 'ToolError';
}

const errorText = (response: Envelope): string => {
	const excess = exceededLimit(response);
	if (excess !== undefined) return `It has ${excess}.`;
	const {content} = objectOf(response.body.result);
	const [first] = Array.isArray(content) ? content : [];
	return toText(objectOf(first).text ?? content);
};

/** The limit that a response exceeds for parsing on the main thread; undefined if it exceeds none. */
function exceededLimit({bytes}: Envelope): string | undefined {
	// A response with fewer bytes than the limit has no more values than that, and the depth of messages is limited.
	if (bytes.length <= MAX_RESULT_VALUES || jsonComplexity(bytes).values <= MAX_RESULT_VALUES) return;
	return `more than ${MAX_RESULT_VALUES} values`;
}

/** The error of a response, or one that stands for it. */
export function errorOf(response: Envelope): JsonObject {
	const excess = exceededLimit(response);
	return excess === undefined
		? objectOf(response.body.error)
		: {message: `The server sent an error with ${excess}.`};
}

/** Where in a trace a client's request belongs, if it says so. */
export const traceContextOf = (params: unknown): TraceContext => {
	const {traceparent, tracestate} = objectOf(objectOf(params)._meta);
	return {
		...(typeof traceparent === 'string' ? {traceparent} : {}),
		...(typeof tracestate === 'string' ? {tracestate} : {}),
	};
};

/** What a client says it can do, as its servers are told: the hub knows no tasks. */
export const forwardedCapabilities = (capabilities: unknown): JsonObject =>
	without(objectOf(capabilities), 'tasks');
