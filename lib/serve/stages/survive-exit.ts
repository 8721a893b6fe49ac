import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {type Stage, stage} from '../../core/stage.js';
import {NEWEST_HANDSHAKE} from '../../protocol/version.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {codexToolDefinitions} from '../codex/codex-tools.js';

type SurviveExitOptions = {
	/** Told of the end, with what it died of. */
	readonly onExit: (error: BridgeError) => void;
	readonly version: string;
};

type PendingCodexRequest = {readonly id: string; readonly method: string; readonly origin: MessageOrigin};

/** As many as may wait for an answer. */
const MAX_PENDING = 65_536;

/**
 * Stands in for a server that is gone, or was never there: a client can still shake hands, and see which tools there are.
 * What it was asked is answered; those who ask for turns are told by others.
 */
export function surviveExit({onExit, version}: SurviveExitOptions): Stage {
	/** What has not been answered, by its key. */
	const pending = new BoundedMap<string, PendingCodexRequest>(MAX_PENDING);
	/** What Codex has last said; its usual tools where it never was there to tell. */
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
		toUpstream(envelope, answer) {
			const {id, key, method} = envelope.head;
			if (method === undefined || key === undefined || id === undefined)
				return exitError ? undefined : envelope;
			const request = {id, method, origin: envelope.origin};
			if (exitError) answer(fallbackResponse(request, exitError));
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
	new BridgeError('ERR_SESSION_CLOSED', 'Codex has ended.', 'Start bridge again to go on.');
