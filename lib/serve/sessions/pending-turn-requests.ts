import {randomBytes} from 'node:crypto';
import {bridgeOrigin, Envelope} from '../../core/envelope.js';
import type {JsonObject} from '../../util/json.js';
import {RESUME_META, SETTINGS_META} from '../codex/app-server-turns.js';
import type {TurnRun} from './turn-run.js';

/** Pending requests to Codex. Their ids have a unique prefix, so that late responses are recognized. */
export class PendingTurnRequests {
	readonly #prefix = `turn-${randomBytes(4).toString('hex')}`;
	/** By request key. Bounded by the number of sessions, since each runs one turn at a time. */
	readonly #pending = new Map<string, TurnRun>();
	#lastId = 0;
	#send: (envelope: Envelope) => void = () => {};

	/** Sets the function that sends messages to Codex. */
	attach(send: (envelope: Envelope) => void): void {
		this.#send = send;
	}

	send(run: TurnRun, name: string, args: JsonObject): void {
		const id = `${this.#prefix}-${++this.#lastId}`;
		const {meta: clientMeta, origin = bridgeOrigin, resumeSettings, turnSettings} = run.turnRequest;
		const settingsMeta = {
			...(resumeSettings ? {[RESUME_META]: resumeSettings} : {}),
			...(turnSettings ? {[SETTINGS_META]: turnSettings} : {}),
		};
		const meta =
			name === 'codex-reply' && Object.keys(settingsMeta).length > 0
				? {...clientMeta, ...settingsMeta}
				: clientMeta;
		run.requestId = id;
		run.attempts++;
		this.#pending.set(JSON.stringify(id), run);
		const params = {name, arguments: args, ...(meta ? {_meta: meta} : {})};
		this.#send(Envelope.of({jsonrpc: '2.0', id, method: 'tools/call', params}, origin));
	}

	/** Sends a cancellation. The request stays pending until Codex responds. */
	cancel(run: TurnRun, reason: string): void {
		if (run.requestId === undefined) return;
		const params = {requestId: run.requestId, reason};
		this.#send(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	find(key: string): TurnRun | undefined {
		return this.#pending.get(key);
	}

	remove(run: TurnRun): void {
		if (run.requestId !== undefined) this.#pending.delete(JSON.stringify(run.requestId));
		run.requestId = undefined;
	}

	/** Whether a key belongs to a request of a turn, including completed ones. */
	isOwnKey(key: string): boolean {
		return key.startsWith(`"${this.#prefix}`);
	}
}
