import type {IncomingHttpHeaders} from 'node:http';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {isModernPost, modernProblem} from '../gateway/modern-request.js';
import {tooLarge} from '../gateway/refusals.js';
import type {Refused} from '../http/refuse.js';
import {modernStatus} from '../http/rpc-status.js';
import {versionProblem} from '../protocol/http-hop.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {tooComplex} from '../protocol/too-complex.js';
import {discovered, modernResult} from '../protocol/v2026-07-28.js';
import {isHandshakeVersion, OLDEST, toldTo} from '../protocol/version.js';
import {type Controlled, callTool, toolList} from './tools.js';

export type AnswerOptions = Controlled & {readonly version: string};

/** What a message is answered over HTTP: a message and its status, nothing but that it was heard, or why not. */
export type Answered = {readonly status: number; readonly answer: Envelope} | 'heard' | Refused;

/** Answers one message of a client, of which nothing is remembered: no session is needed to steer a program. */
export async function answerTo(
	envelope: Envelope,
	headers: IncomingHttpHeaders,
	options: AnswerOptions,
): Promise<Answered> {
	const {flaw, id, method} = envelope.head;
	if (flaw === 'not JSON')
		return {status: 400, id: 'null', code: -32700, message: 'Parse error: the body is not JSON'};
	if (flaw === 'too complex') return tooLarge(tooComplex('The client'), id ?? 'null');
	if (flaw !== undefined)
		return {status: 400, id: id ?? 'null', code: -32600, message: `Invalid Request: ${flaw}`};
	const isModern = isModernPost(envelope, headers);
	const problem = isModern ? modernProblem(envelope, headers) : wrongVersion(headers, id);
	if (problem) return problem;
	if (id === undefined || method === undefined) return 'heard';
	const outcome = await outcomeOf(method, objectOf(envelope.body.params), options);
	if ('error' in outcome) {
		const answer = Envelope.answer(id, 'error', outcome.error);
		return {status: isModern ? modernStatus(method, answer) : 200, answer};
	}
	const result = isModern ? modernResult(method, outcome.result, infoOf(options)) : outcome.result;
	return {status: 200, answer: Envelope.answer(id, 'result', result)};
}

function wrongVersion(headers: IncomingHttpHeaders, id: string | undefined): Refused | undefined {
	const given = headers['mcp-protocol-version'];
	const message = versionProblem(Array.isArray(given) ? given.join(', ') : given);
	return message === undefined ? undefined : {status: 400, id, code: -32600, message};
}

type Outcome = {readonly result: JsonObject} | {readonly error: JsonObject};

async function outcomeOf(method: string, params: JsonObject, options: AnswerOptions): Promise<Outcome> {
	switch (method) {
		case 'initialize':
			return {result: initializeResult(params.protocolVersion, options)};
		case 'server/discover':
			return {result: discovered(initializeResult(undefined, options))};
		case 'ping':
			return {result: {}};
		case 'tools/list':
			return {result: {tools: toolList}};
		case 'tools/call':
			return call(params, options);
		default:
			return {error: {code: -32601, message: `Method not found: ${method}`}};
	}
}

const infoOf = ({version}: AnswerOptions): JsonObject => ({name: 'rawprox', version});

/** The version that is spoken is the one that was asked for, if it is known: all that is said here is the same in each. */
const initializeResult = (asked: unknown, options: AnswerOptions): JsonObject => ({
	protocolVersion: asked === undefined || isHandshakeVersion(asked) ? (asked ?? OLDEST) : toldTo(asked),
	capabilities: {tools: {}},
	serverInfo: infoOf(options),
});

async function call({name, arguments: args}: JsonObject, options: AnswerOptions): Promise<Outcome> {
	try {
		const text = await callTool(name, args, options);
		return {result: {content: [{type: 'text', text}]}};
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		const {message, remedy} = error;
		const data = {source: 'bridge', kind: 'invalid_params', ...(remedy === '' ? {} : {remedy})};
		return {error: {code: -32602, message: message.replace(/\.$/, ''), data}};
	}
}
