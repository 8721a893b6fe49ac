import type {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import type {TraceContext, TracedSpan} from '../core/span.js';
import type {Pack, PackTool, ServerState} from '../run/types.js';
import {type JsonObject, objectOf, toText} from '../util/json.js';
import {parseWithBigInts} from '../wire/bigint-json.js';
import {marks} from '../wire/marks.js';
import {memberRange} from '../wire/member.js';
import type {HubUpstream} from './hub-upstream.js';
import {upstreamUnavailable} from './pending-client-requests.js';
import {checkResponseLimits, type ResponseLimits} from './response-limits.js';
import {callSpan, endCallSpan, errorOf} from './tool-call-spans.js';
import {unwrapOutput} from './unwrap-output.js';
import type {ListedItem} from './upstream-lists.js';
import {waitUntilSettled} from './wait-until-settled.js';

/** The context that all calls of one program share. */
export type ProgramContext = {
	readonly log: Log;
	/** The id of the client's request that runs the program. */
	readonly relatedRequestId: string;
	readonly traceContext: TraceContext;
	readonly responseLimits: ResponseLimits;
};

export function upstreamPack(upstream: HubUpstream, context: ProgramContext): Pack {
	const {
		name,
		tools,
		service,
		initializeResult,
		state,
		reason = 'it is still connecting. Try again in a moment.',
	} = upstream;
	const {timeoutMs} = service.config;
	const description = objectOf(initializeResult.serverInfo).title;
	return {
		name,
		source: 'proxied',
		...(typeof description === 'string' ? {description} : {}),
		tools: tools.map(packTool),
		...(timeoutMs === 0 ? {} : {timeoutMs}),
		...(state === 'connected' ? {} : {unavailableReason: reason}),
		...(state === 'connecting' ? {whenConnected: signal => packWhenSettled(upstream, context, signal)} : {}),
		onRejected: (tool, error) => logRejected(toolCallSpan(upstream, tool, context), `${name}.${tool}`, error),
		call: (tool, args, signal) => callUpstreamTool(upstream, tool, args, {...context, signal}),
	};
}

/** Returns a tool in the form that programs see. */
const packTool = ({body, output}: ListedItem): PackTool =>
	(output ? {...body, outputSchema: output.schema} : body) as PackTool;

async function packWhenSettled(
	upstream: HubUpstream,
	context: ProgramContext,
	signal: AbortSignal,
): Promise<Pack> {
	await waitUntilSettled(upstream, signal);
	return upstreamPack(upstream, context);
}

const toolCallSpan = (
	{name}: HubUpstream,
	tool: string,
	{log, traceContext}: Pick<ProgramContext, 'log' | 'traceContext'>,
): TracedSpan => callSpan(log, name, tool, traceContext);

const logRejected = (span: TracedSpan, name: string, error: unknown): void =>
	span.fail(`${name} was rejected.`, error);

async function callUpstreamTool(
	upstream: HubUpstream,
	tool: string,
	args: JsonObject,
	{signal, responseLimits, ...context}: ProgramContext & {readonly signal: AbortSignal},
): Promise<unknown> {
	const {rpc, name: server, state} = upstream;
	const span = toolCallSpan(upstream, tool, context);
	const name = `${server}.${tool}`;
	if (!rpc || state !== 'connected') {
		const error = upstreamUnavailable(upstream);
		logRejected(span, name, error);
		throw error;
	}
	const traceMeta = {...context.traceContext, ...span.traceContext};
	const meta = Object.keys(traceMeta).length === 0 ? {} : {_meta: traceMeta};
	try {
		const params = {name: tool, arguments: args, ...meta};
		const response = await rpc.requestEnvelope('tools/call', params, {
			signal,
			relatedRequestId: context.relatedRequestId,
		});
		checkLimits(response, responseLimits, span, name);
		endCallSpan(span, name, response);
		if (!response.head.hasError) {
			const {output} = upstream.tools.find(one => one.name === tool) ?? {};
			return unwrapOutput(parseResult(response), response, output);
		}
		throw toolFailure(server, errorOf(response));
	} catch (error) {
		if (signal.aborted) span.fail(`${name} was cancelled.`, error);
		throw error;
	}
}

/** Throws if a response exceeds a limit, and ends its span. */
function checkLimits(response: Envelope, limits: ResponseLimits, span: TracedSpan, name: string): void {
	try {
		checkResponseLimits(response, limits, name);
	} catch (error) {
		span.fail(`${name} returned too large a response.`, error);
		throw error;
	}
}

function parseResult(response: Envelope): unknown {
	if ((response.head.marks & marks.inexactNumber) === 0) return response.body.result;
	const [start, end] = memberRange(response.bytes, 'result') ?? [0, 0];
	return parseWithBigInts(response.bytes.toString('utf8', start, end));
}

/** Returns the error of a failed call. An unavailable upstream is always reported in the same words. */
function toolFailure(server: string, {code, message}: JsonObject): Error {
	const isUnavailable = code === -31001 || code === -31004;
	return new Error(isUnavailable ? `Server '${server}' unavailable: ${toText(message)}` : toText(message));
}

export const serverState = ({name, type, service, state, reason}: HubUpstream): ServerState => ({
	name,
	type,
	enabled: service.config.enabled,
	connected: state === 'connected',
	...(state === 'connected' && service.version !== undefined ? {protocolVersion: service.version} : {}),
	...(reason === undefined ? {} : {error: reason}),
});
