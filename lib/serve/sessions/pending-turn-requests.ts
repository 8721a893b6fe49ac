import {randomBytes} from 'node:crypto';
import {bridgeOrigin, Envelope} from '../../core/envelope.js';
import type {JsonObject} from '../../util/json.js';
import {RESUME_META, SETTINGS_META} from '../codex/app-server-turns.js';
import type {TurnRun} from './turn-run.js';

/** What Codex is asked at present. Its ids are nobody else's, so a late answer is known for what it is. */
export class PendingTurnRequests {
	readonly #prefix = `turn-${randomBytes(4).toString('hex')}`;
	/** By the key of the request. There are no more than sessions. */
	readonly #pending = new Map<string, TurnRun>();
	#lastId = 0;
	#send: (envelope: Envelope) => void = () => {};

	/** Says how Codex is spoken to. */
	attach(send: (envelope: Envelope) => void): void {
		this.#send = send;
	}

	/** Asks Codex for a turn. */
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

	/** Tells Codex to stop. The answer is still waited for. */
	cancel(run: TurnRun, reason: string): void {
		if (run.requestId === undefined) return;
		const params = {requestId: run.requestId, reason};
		this.#send(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	/** The turn that Codex was asked for under this key. */
	find(key: string): TurnRun | undefined {
		return this.#pending.get(key);
	}

	/** Nothing is waited for any more. */
	remove(run: TurnRun): void {
		if (run.requestId !== undefined) this.#pending.delete(JSON.stringify(run.requestId));
		run.requestId = undefined;
	}

	/** Whether this is the key of a turn's request, be it over or not. */
	isOwnKey(key: string): boolean {
		return key.startsWith(`"${this.#prefix}`);
	}
}
