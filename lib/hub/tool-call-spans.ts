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

/**
 * Returns a client's call as it is sent to the upstream: with the upstream's name for the tool, and in the
 * trace of the span.
 */
export function toUpstreamCall(call: Envelope, {name}: ListedItem, traceContext: TraceContext): Envelope {
	const range = memberRange(call.bytes, 'params', 'name');
	const renamed = range ? call.withTextAt(range, JSON.stringify(name)) : call;
	if (Object.keys(traceContext).length === 0) return renamed;
	return editMessage(renamed, body => {
		const params = objectOf(body.params);
		return {...body, params: {...params, _meta: {...objectOf(params._meta), ...traceContext}}};
	});
}

/** The maximum length of a tool name in a log entry: clients may call any name. */
const MAX_NAME = 200;

export const callSpan = (log: Log, server: string, tool: string, parent: TraceContext): TracedSpan =>
	startSpan(log, 'proxy.tool.call', {server, tool: tool.slice(0, MAX_NAME)}, parent);

export function endCallSpan(toolSpan: TracedSpan, name: string, response: Envelope): void {
	const {head, bytes} = response;
	if (head.hasError) {
		toolSpan.fail(`${name} failed.`, new CallError(errorOf(response)));
		return;
	}
	const fields = {resultLength: resultLength(response)};
	if (memberText(bytes, 'result', 'isError') === 'true')
		toolSpan.fail(`${name} responded with an error.`, new ToolError(errorText(response)), fields);
	else toolSpan.succeed(`${name} succeeded.`, fields);
}

/** A call with an error response. Its name is the kind of error, if the error is from bridge. */
class CallError extends Error {
	override readonly name: string;

	constructor({message, data}: JsonObject) {
		super(toText(message));
		const {source, kind} = objectOf(data);
		this.name = source === 'bridge' ? toText(kind) : 'RpcError';
	}
}

/** A tool result with `isError`. */
class ToolError extends Error {
	override readonly name = 'ToolError';
}

const errorText = (response: Envelope): string => {
	const excess = exceededLimit(response);
	if (excess !== undefined) return `The result has ${excess}.`;
	const {content} = objectOf(response.body.result);
	const [first] = Array.isArray(content) ? content : [];
	return toText(objectOf(first).text ?? content);
};

/** Returns the limit that a response exceeds for parsing on the main thread; undefined if it exceeds none. */
function exceededLimit({bytes}: Envelope): string | undefined {
	// A response never has more values than bytes, and the depth of messages is limited.
	if (bytes.length <= MAX_RESULT_VALUES || jsonComplexity(bytes).values <= MAX_RESULT_VALUES) return;
	return `more than ${MAX_RESULT_VALUES} values`;
}

/** Returns the error of a response, or a substitute for one that is too large to parse. */
export function errorOf(response: Envelope): JsonObject {
	const excess = exceededLimit(response);
	return excess === undefined
		? objectOf(response.body.error)
		: {message: `The server sent an error with ${excess}.`};
}

export const traceContextOf = (params: unknown): TraceContext => {
	const {traceparent, tracestate} = objectOf(objectOf(params)._meta);
	return {
		...(typeof traceparent === 'string' ? {traceparent} : {}),
		...(typeof tracestate === 'string' ? {tracestate} : {}),
	};
};

/** Returns the client's capabilities as they are sent to upstreams. The hub does not support tasks. */
export const forwardedCapabilities = (capabilities: unknown): JsonObject =>
	without(objectOf(capabilities), 'tasks');
