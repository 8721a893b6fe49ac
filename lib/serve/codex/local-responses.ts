import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {Emit} from '../../core/stage.js';
import {isHandshakeVersion, NEWEST_HANDSHAKE} from '../../protocol/version.js';
import {isObject, type JsonObject, objectOf} from '../../util/json.js';
import type {TurnNotifier} from './turn-notifier.js';

/** What both backends answer to `initialize`. */
export function codexInitializeResult(params: unknown, serverInfo: JsonObject): JsonObject {
	const {protocolVersion: requestedVersion} = objectOf(params);
	const protocolVersion = isHandshakeVersion(requestedVersion) ? requestedVersion : NEWEST_HANDSHAKE;
	return {protocolVersion, capabilities: {tools: {}, logging: {}}, serverInfo};
}

/** Answers every request that Codex is not asked: those that it does not know, and those that it never answers. */
export function respondLocally(envelope: Envelope, notifier: TurnNotifier, answer: Emit): void {
	const {id = 'null', method = ''} = envelope.head;
	const reply = (member: 'result' | 'error', value: object): void =>
		answer(Envelope.response(id, member, value, envelope.origin));
	if (method === 'ping') reply('result', {});
	else if (method !== 'logging/setLevel')
		reply('error', {code: -32601, message: `Method not found: ${method} (Codex has tools only)`});
	else if (notifier.setLevel(objectOf(envelope.body.params).level)) reply('result', {});
	else
		reply('error', {
			code: -32602,
			message: 'The level is none of those that MCP has, from debug to emergency.',
		});
}

/** Whether a call is one of the two that begin a turn. Any other tool is refused, as Codex would. */
export function acceptTurnCall(envelope: Envelope, answer: Emit): boolean {
	const {name} = objectOf(envelope.body.params);
	if (name === 'codex' || name === 'codex-reply') return true;
	const text = `Codex has no tool ${JSON.stringify(name)}: it has codex and codex-reply.`;
	const result = {isError: true, content: [{type: 'text', text}]};
	answer(Envelope.response(envelope.head.id ?? 'null', 'result', result, envelope.origin));
	return false;
}

export const alreadyInitializedError = (): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_INVALID',
		'initialize was called more than once.',
		'Call it once a connection; start bridge again for another.',
	);

export const notInitializedError = (): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_INVALID',
		'Codex was called before initialize was answered.',
		'Begin with initialize, and wait for its answer.',
	);

/** What an error says, as text. */
export function rpcErrorText(error: unknown): string {
	const {message} = objectOf(error);
	return typeof message === 'string' ? message : isObject(error) ? JSON.stringify(error) : String(error);
}
