import type {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {type JsonObject, objectOf, worded} from '../protocol/json.js';
import type {Pack, PackTool, ServerState} from '../run/types.js';
import type {Span, TraceContext} from '../span.js';
import {parseExact} from '../wire/exact-integers.js';
import {marks} from '../wire/marks.js';
import {memberRange} from '../wire/member.js';
import {arrival} from './arrival.js';
import {unavailable} from './client-requests.js';
import type {Member} from './member.js';
import type {Listed} from './member-tools.js';
import {ownOutput} from './own-output.js';
import {checkResponse, type ResponseLimits} from './response-limits.js';
import {callSpan, endCall, errorOf} from './tool-calls.js';

/** What the calls of one program have in common. */
export type ProgramContext = {
	readonly log: Log;
	/** The id of the client's request that runs it. */
	readonly within: string;
	readonly traceContext: TraceContext;
	readonly responseLimits: ResponseLimits;
};

/** A server as a pack of `run`. */
export function packOf(member: Member, context: ProgramContext): Pack {
	const {
		name,
		tools,
		service,
		greeting,
		state,
		reason = 'it is still connecting. Try again in a moment.',
	} = member;
	const {timeoutMs} = service.config;
	const description = objectOf(greeting.serverInfo).title;
	return {
		name,
		source: 'proxied',
		...(typeof description === 'string' ? {description} : {}),
		tools: tools.map(toolOf),
		...(timeoutMs === 0 ? {} : {timeoutMs}),
		...(state === 'connected' ? {} : {unavailable: reason}),
		...(state === 'connecting' ? {connecting: signal => arrived(member, context, signal)} : {}),
		onRejected: (tool, error) => rejected(spanOf(member, tool, context), `${name}.${tool}`, error),
		call: (tool, args, signal) => callOf(member, tool, args, {...context, signal}),
	};
}

/** A tool as a program sees it. */
const toolOf = ({body, output}: Listed): PackTool =>
	(output ? {...body, outputSchema: output.schema} : body) as PackTool;

async function arrived(member: Member, context: ProgramContext, signal: AbortSignal): Promise<Pack> {
	await arrival(member, signal);
	return packOf(member, context);
}

const spanOf = (
	{name}: Member,
	tool: string,
	{log, traceContext}: Pick<ProgramContext, 'log' | 'traceContext'>,
): Span => callSpan(log, name, tool, traceContext);

/** Logs a call that no server gets. */
const rejected = (call: Span, name: string, error: unknown): void =>
	call.fail(`${name} was rejected.`, error);

async function callOf(
	member: Member,
	tool: string,
	args: JsonObject,
	{signal, responseLimits, ...context}: ProgramContext & {readonly signal: AbortSignal},
): Promise<unknown> {
	const {link, name: server, state} = member;
	const call = spanOf(member, tool, context);
	const name = `${server}.${tool}`;
	if (!link || state !== 'connected') {
		const error = unavailable(member);
		rejected(call, name, error);
		throw error;
	}
	const around = {...context.traceContext, ...call.traceContext};
	const meta = Object.keys(around).length === 0 ? {} : {_meta: around};
	try {
		const params = {name: tool, arguments: args, ...meta};
		const answer = await link.askEnvelope('tools/call', params, {signal, within: context.within});
		checked(answer, responseLimits, call, name);
		endCall(call, name, answer);
		if (!answer.head.hasError) {
			const {output} = member.tools.find(one => one.name === tool) ?? {};
			return ownOutput(resultIn(answer), answer, output);
		}
		throw refusedBy(server, errorOf(answer));
	} catch (error) {
		if (signal.aborted) call.fail(`${name} was given up.`, error);
		throw error;
	}
}

/** Logs a response over the limits, and throws for it. */
function checked(answer: Envelope, limits: ResponseLimits, call: Span, name: string): void {
	try {
		checkResponse(answer, limits, name);
	} catch (error) {
		call.fail(`${name} returned too much.`, error);
		throw error;
	}
}

function resultIn(answer: Envelope): unknown {
	if ((answer.head.marks & marks.inexactNumber) === 0) return answer.body.result;
	const [start, end] = memberRange(answer.bytes, 'result') ?? [0, 0];
	return parseExact(answer.bytes.toString('utf8', start, end));
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
	...(state === 'connected' && service.version !== undefined ? {protocolVersion: service.version} : {}),
	...(reason === undefined ? {} : {error: reason}),
});
