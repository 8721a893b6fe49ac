import {BoundedMap} from '../bounded-map.js';
import {tools} from '../codex/tools.js';
import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {NEWEST_HANDSHAKE} from '../protocol/version.js';
import {type Stage, stage} from '../stage.js';

export type OutliveChildOptions = {
	/** Told of the end, with what it died of. */
	readonly onGone: (error: BridgeError) => void;
	readonly version: string;
};

type Asked = {readonly id: string; readonly method: string; readonly origin: Origin};

/** As many as may wait for an answer. */
const MAX_WAITING = 65_536;

/**
 * Stands in for a server that is gone, or was never there: a client can still shake hands, and see which tools there are.
 * What it was asked is answered; those who ask for turns are told by others.
 */
export function outliveChild({onGone, version}: OutliveChildOptions): Stage {
	/** What has not been answered, by its key. */
	const waiting = new BoundedMap<string, Asked>(MAX_WAITING);
	/** What Codex has last said; its usual tools where it never was there to tell. */
	let listed: unknown = {tools};
	let death: BridgeError | undefined;
	const standIn = ({id, method, origin}: Asked, error: BridgeError): Envelope => {
		const serverInfo = {name: 'bridge', version};
		const greeting = {protocolVersion: NEWEST_HANDSHAKE, capabilities: {tools: {}, logging: {}}, serverInfo};
		const results: {readonly [method: string]: unknown} = {
			initialize: greeting,
			ping: {},
			'tools/list': listed,
			'logging/setLevel': {},
		};
		const result = results[method];
		if (result !== undefined) return Envelope.answer(id, 'result', result, origin);
		return Envelope.failure(id, error, origin);
	};
	return stage(out => ({
		toUpstream(envelope, answer) {
			const {id, key, method} = envelope.head;
			if (method === undefined || key === undefined || id === undefined) return death ? undefined : envelope;
			const asked = {id, method, origin: envelope.origin};
			if (death) answer(standIn(asked, death));
			else waiting.set(key, asked);
			return death ? undefined : envelope;
		},
		toClient(envelope) {
			const {key, method, hasResult} = envelope.head;
			if (method !== undefined || key === undefined) return envelope;
			const asked = waiting.take(key);
			if (asked?.method === 'tools/list' && hasResult) listed = envelope.body.result;
			return envelope;
		},
		upstreamGone(error) {
			death = error instanceof BridgeError ? error : closed();
			onGone(death);
			const left = [...waiting.values()];
			waiting.clear();
			for (const asked of left) out.toClient(standIn(asked, death));
		},
		outlivesUpstream: true,
	}));
}

const closed = (): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', 'Codex has ended.', 'Start bridge again to go on.');
