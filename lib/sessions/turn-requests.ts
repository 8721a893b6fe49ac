import {randomBytes} from 'node:crypto';
import {RESUME_META, SETTINGS_META} from '../codex/app-turns.js';
import {Envelope, local} from '../envelope.js';
import type {JsonObject} from '../protocol/json.js';
import type {Job} from './job.js';

/** What Codex is asked at present. Its ids are nobody else's, so a late answer is known for what it is. */
export class TurnRequests {
	readonly #prefix = `turn-${randomBytes(4).toString('hex')}`;
	/** By the key of the request. There are no more than sessions. */
	readonly #asked = new Map<string, Job>();
	#count = 0;
	#send: (envelope: Envelope) => void = () => {};

	/** Says how Codex is spoken to. */
	attach(send: (envelope: Envelope) => void): void {
		this.#send = send;
	}

	/** Asks Codex for a turn. */
	send(job: Job, name: string, args: JsonObject): void {
		const id = `${this.#prefix}-${++this.#count}`;
		const {meta: given, origin = local, resumeWith, turnWith} = job.ask;
		const own = {
			...(resumeWith ? {[RESUME_META]: resumeWith} : {}),
			...(turnWith ? {[SETTINGS_META]: turnWith} : {}),
		};
		const meta = name === 'codex-reply' && Object.keys(own).length > 0 ? {...given, ...own} : given;
		job.request = id;
		job.attempts++;
		this.#asked.set(JSON.stringify(id), job);
		const params = {name, arguments: args, ...(meta ? {_meta: meta} : {})};
		this.#send(Envelope.of({jsonrpc: '2.0', id, method: 'tools/call', params}, origin));
	}

	/** Tells Codex to stop. The answer is still waited for. */
	cancel(job: Job, reason: string): void {
		if (job.request === undefined) return;
		const params = {requestId: job.request, reason};
		this.#send(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	/** The turn that Codex was asked for under this key. */
	find(key: string): Job | undefined {
		return this.#asked.get(key);
	}

	/** Nothing is waited for any more. */
	forget(job: Job): void {
		if (job.request !== undefined) this.#asked.delete(JSON.stringify(job.request));
		job.request = undefined;
	}

	/** Whether this is the key of a turn's request, be it over or not. */
	isOwn(key: string): boolean {
		return key.startsWith(`"${this.#prefix}`);
	}
}
