import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {type Stage, stage} from '../../core/stage.js';
import {NEWEST_HANDSHAKE} from '../../protocol/version.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {codexToolDefinitions} from '../codex/codex-tools.js';

type SurviveExitOptions = {
	readonly onExit: (error: BridgeError) => void;
	readonly version: string;
};

type PendingCodexRequest = {readonly id: string; readonly method: string; readonly origin: MessageOrigin};

const MAX_PENDING = 65_536;

/**
 * Responds in place of a Codex process that has exited or could not be started, so that clients can still
 * initialize and list tools. Other pending requests fail with the exit error. Turns are rejected by other
 * stages.
 */
export function surviveExit({onExit, version}: SurviveExitOptions): Stage {
	const pending = new BoundedMap<string, PendingCodexRequest>(MAX_PENDING);
	/** The last `tools/list` result of Codex. Defaults to the usual tools. */
	let lastToolList: unknown = {tools: codexToolDefinitions};
	let exitError: BridgeError | undefined;
	const fallbackResponse = ({id, method, origin}: PendingCodexRequest, error: BridgeError): Envelope => {
		const serverInfo = {name: 'bridge', version};
		const initializeResult = {
			protocolVersion: NEWEST_HANDSHAKE,
			capabilities: {tools: {}, logging: {}},
			serverInfo,
		};
		const results: {readonly [method: string]: unknown} = {
			initialize: initializeResult,
			ping: {},
			'tools/list': lastToolList,
			'logging/setLevel': {},
		};
		const result = results[method];
		if (result !== undefined) return Envelope.response(id, 'result', result, origin);
		return Envelope.errorResponse(id, error, origin);
	};
	return stage(out => ({
		toUpstream(envelope, respond) {
			const {id, key, method} = envelope.head;
			if (method === undefined || key === undefined || id === undefined)
				return exitError ? undefined : envelope;
			const request = {id, method, origin: envelope.origin};
			if (exitError) respond(fallbackResponse(request, exitError));
			else pending.set(key, request);
			return exitError ? undefined : envelope;
		},
		toClient(envelope) {
			const {key, method, hasResult} = envelope.head;
			if (method !== undefined || key === undefined) return envelope;
			const request = pending.take(key);
			if (request?.method === 'tools/list' && hasResult) lastToolList = envelope.body.result;
			return envelope;
		},
		upstreamClosed(error) {
			exitError = error instanceof BridgeError ? error : codexExited();
			onExit(exitError);
			const remaining = [...pending.values()];
			pending.clear();
			for (const request of remaining) out.toClient(fallbackResponse(request, exitError));
		},
		outlivesUpstream: true,
	}));
}

const codexExited = (): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', 'Codex has exited.', 'Restart bridge to continue.');
