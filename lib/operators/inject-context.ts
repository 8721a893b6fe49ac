import {Envelope} from '../envelope.js';
import {type Log, logBug} from '../log.js';
import {objectOf} from '../protocol/json.js';
import type {AcceptedCalls} from '../sessions/accepted-calls.js';
import type {Admission, Admissions} from '../sessions/admission.js';
import {type CodexCall, readCall} from '../sessions/call-arguments.js';
import type {Journal} from '../sessions/journal.js';
import {asRefusal, Refusal} from '../sessions/refusal.js';
import type {Sessions} from '../sessions/sessions.js';
import {type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';

export type InjectContextOptions = {
	readonly sessions: Sessions;
	readonly admissions: Admissions;
	/** Where calls are left for the stage that runs them. */
	readonly calls: AcceptedCalls;
	readonly journal: Journal;
	readonly log: Log;
	/** Why no call is taken any more, if that is so. */
	readonly refusal: () => Refusal | undefined;
};

/**
 * Makes calls of Codex's tools ready: finds or makes their sessions, takes out the arguments that are not Codex's, and
 * puts in who the session is and where. A call that cannot be is answered here.
 */
export const injectContext = (options: InjectContextOptions): Stage =>
	stage(out => new ContextInjector(options, out));

class ContextInjector implements Steps {
	readonly #options: InjectContextOptions;
	readonly #out: Outlets;
	/** Calls that are being made ready, by their keys; what is cancelled meanwhile goes no further. */
	readonly #underWay = new Map<string, {isCancelled: boolean}>();
	/** How many calls wait for what other processes have done to be known. */
	#looking = 0;

	constructor(options: InjectContextOptions, out: Outlets) {
		this.#options = options;
		this.#out = out;
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method === 'notifications/cancelled') return this.#cancelled(envelope);
		if (method !== 'tools/call' || key === undefined) return envelope;
		const {name, arguments: args} = objectOf(envelope.body.params);
		if (name !== 'codex' && name !== 'codex-reply') return envelope;
		try {
			const call = readCall(name, args, this.#options.sessions.config.agentFileAs);
			this.#underWay.set(key, {isCancelled: false});
			// Who comes while another is looked for stays behind it.
			if (this.#looking > 0 || this.#options.admissions.isOfBefore(call))
				void this.#look(envelope, key, call);
			else this.#admit(envelope, key, call);
		} catch (error) {
			this.#refuse(envelope, error);
		}
		return;
	};

	/** Another process may have ended the session since, or taken it. */
	async #look(envelope: Envelope, key: string, call: CodexCall): Promise<void> {
		this.#looking++;
		await this.#options.sessions.registry.refresh();
		this.#looking--;
		this.#admit(envelope, key, call);
	}

	#admit(envelope: Envelope, key: string, call: CodexCall): void {
		try {
			const refusal = this.#options.refusal();
			if (refusal) throw refusal;
			this.#prepare(envelope, key, this.#options.admissions.admit(call));
		} catch (error) {
			void this.#options.admissions.reasonFor(call, error).then(reason => {
				this.#underWay.delete(key);
				this.#refuse(envelope, reason);
			});
		}
	}

	#prepare(envelope: Envelope, key: string, {session, isNew, ready}: Admission): void {
		session.preparing++;
		const prepared = session.order.then(async () => {
			try {
				const {tool, arguments: args, accepted} = await ready();
				if (this.#underWay.get(key)?.isCancelled)
					throw new Refusal('cancelled', 'This call was cancelled before it began.');
				const refusal = this.#options.refusal();
				if (refusal) throw refusal;
				this.#options.calls.set(key, accepted);
				const params = {...objectOf(envelope.body.params), name: tool, arguments: args};
				this.#out.toUpstream(envelope.with({...envelope.body, params}));
			} catch (error) {
				if (isNew) await this.#options.sessions.abandon(session);
				this.#refuse(envelope, error);
			} finally {
				this.#underWay.delete(key);
				session.preparing--;
			}
		});
		session.order = prepared.catch(error => logBug(this.#options.log, error));
	}

	#refuse(envelope: Envelope, error: unknown): void {
		const refusal = asRefusal(error);
		if (!(error instanceof Refusal)) logBug(this.#options.log, error);
		this.#options.journal.refused(objectOf(envelope.body.params), refusal);
		this.#out.toClient(
			Envelope.answer(envelope.head.id ?? 'null', 'result', refusal.result, envelope.origin),
		);
	}

	#cancelled(envelope: Envelope): Envelope | undefined {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		const call = id === undefined ? undefined : this.#underWay.get(canonicalId(id));
		if (!call) return envelope;
		call.isCancelled = true;
		return;
	}
}
