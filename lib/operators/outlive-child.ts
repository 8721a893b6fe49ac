import {BoundedMap} from '../bounded-map.js';
import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {JsonObject} from '../protocol/json.js';
import {NEWEST_HANDSHAKE} from '../protocol/version.js';
import {type Stage, stage} from '../stage.js';

export type OutliveChildOptions = {
	/** Told of the end, with what it died of. */
	readonly onGone: (error: BridgeError) => void;
	/** The tools that a client is shown where Codex never was there to tell. */
	readonly tools: readonly JsonObject[];
	readonly version: string;
};

/** As many as may wait for an answer. */
const MAX_WAITING = 65_536;

/**
 * Stands in for a server that is gone, or was never there: a client can still shake hands, and see which tools there are.
 * What it was asked is answered; those who ask for turns are told by others.
 */
export function outliveChild({onGone, tools, version}: OutliveChildOptions): Stage {
	/** What has not been answered, by its key. */
	const waiting = new BoundedMap<string, {readonly request: Envelope; readonly origin: Origin}>(MAX_WAITING);
	let listed: unknown = {tools};
	let death: BridgeError | undefined;
	const standIn = (request: Envelope, error: BridgeError): Envelope | undefined => {
		const {id, method} = request.head;
		if (id === undefined) return;
		const serverInfo = {name: 'bridge', version};
		const greeting = {protocolVersion: NEWEST_HANDSHAKE, capabilities: {tools: {}, logging: {}}, serverInfo};
		const results: {readonly [method: string]: unknown} = {
			initialize: greeting,
			ping: {},
			'tools/list': listed,
			'logging/setLevel': {},
		};
		const result = results[method ?? ''];
		if (result !== undefined) return Envelope.answer(id, 'result', result, request.origin);
		return Envelope.failure(id, error, request.origin);
	};
	return stage(out => ({
		toUpstream(envelope, answer) {
			const {key, method} = envelope.head;
			if (method === undefined || key === undefined) return death ? undefined : envelope;
			if (!death) {
				waiting.set(key, {request: envelope, origin: envelope.origin});
				return envelope;
			}
			const instead = standIn(envelope, death);
			if (instead) answer(instead);
			return;
		},
		toClient(envelope) {
			const {key, method, hasResult} = envelope.head;
			if (method !== undefined || key === undefined) return envelope;
			const asked = waiting.take(key);
			if (asked?.request.head.method === 'tools/list' && hasResult) listed = envelope.body.result;
			return envelope;
		},
		upstreamGone(error) {
			death = error instanceof BridgeError ? error : closed();
			onGone(death);
			for (const {request} of [...waiting.values()]) {
				const instead = standIn(request, death);
				if (instead) out.toClient(instead);
			}
			waiting.clear();
		},
		outlivesUpstream: true,
	}));
}

const closed = (): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', 'Codex has ended.', 'Start bridge again to go on.');
