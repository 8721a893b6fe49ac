import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {Emit} from '../../core/stage.js';
import {isHandshakeVersion, NEWEST_HANDSHAKE} from '../../protocol/version.js';
import {isObject, type JsonObject, objectOf} from '../../util/json.js';
import type {TurnNotifier} from './turn-notifier.js';

/** The result of `initialize` for both interfaces of Codex. */
export function codexInitializeResult(params: unknown, serverInfo: JsonObject): JsonObject {
	const {protocolVersion: requestedVersion} = objectOf(params);
	const protocolVersion = isHandshakeVersion(requestedVersion) ? requestedVersion : NEWEST_HANDSHAKE;
	return {protocolVersion, capabilities: {tools: {}, logging: {}}, serverInfo};
}

/**
 * Responds to requests that are not forwarded, because Codex does not support them or never responds to them.
 */
export function respondLocally(envelope: Envelope, notifier: TurnNotifier, emit: Emit): void {
	const {id = 'null', method = ''} = envelope.head;
	const reply = (member: 'result' | 'error', value: object): void =>
		emit(Envelope.response(id, member, value, envelope.origin));
	if (method === 'ping') reply('result', {});
	else if (method !== 'logging/setLevel')
		reply('error', {code: -32601, message: `Method not found: ${method}. Codex only supports tools.`});
	else if (notifier.setLevel(objectOf(envelope.body.params).level)) reply('result', {});
	else
		reply('error', {
			code: -32602,
			message: 'Unknown log level. Use one of the levels of MCP, from debug to emergency.',
		});
}

/**
 * Whether a call is for one of the two tools that start a turn. Calls of other tools get an error result, as
 * from Codex.
 */
export function acceptTurnCall(envelope: Envelope, emit: Emit): boolean {
	const {name} = objectOf(envelope.body.params);
	if (name === 'codex' || name === 'codex-reply') return true;
	const text = `Unknown tool ${JSON.stringify(name)}. Codex has the tools codex and codex-reply.`;
	const result = {isError: true, content: [{type: 'text', text}]};
	emit(Envelope.response(envelope.head.id ?? 'null', 'result', result, envelope.origin));
	return false;
}

export const alreadyInitializedError = (): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_INVALID',
		'initialize was sent more than once.',
		'Send it once per connection. Restart bridge for a new connection.',
	);

export const notInitializedError = (): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_INVALID',
		'A tool of Codex was called before initialize completed.',
		'Send initialize first and wait for its response.',
	);

/** The message of a JSON-RPC error, or the whole error as JSON if it does not have one. */
export function rpcErrorText(error: unknown): string {
	const {message} = objectOf(error);
	return typeof message === 'string' ? message : isObject(error) ? JSON.stringify(error) : String(error);
}
