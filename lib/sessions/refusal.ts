import type {JsonObject} from '../protocol/json.js';
import type {AuditEntry} from './types.js';

/** What a tool call is refused for, with ATM's codes where ATM has one. */
export const refusals = {
	/** Codex failed to run a turn to its end. */
	turn_failed: -32000,
	identity_conflict: -32001,
	session_not_found: -32002,
	session_closed: -32003,
	max_sessions: -32004,
	child_dead: -32005,
	timeout: -32006,
	invalid_params: -32007,
	agent_file_not_found: -32008,
	identity_required: -32009,
	overloaded: -31003,
	cancelled: -31006,
	internal: -32603,
} as const;

export type RefusalKind = keyof typeof refusals;

/** The session that made a call, for the audit file. */
export type Actor = Pick<AuditEntry, 'identity' | 'codexId' | 'threadId'>;

/** A tool call that is not done, or not to its end: the sentences are what a model reads, so they hold every fact. */
export class Refusal extends Error {
	override readonly name = 'Refusal';
	readonly kind: RefusalKind;
	readonly facts: JsonObject;
	/** The caller, if it is proven. A claimed identity is not enough. */
	actor: Actor | undefined;

	constructor(kind: RefusalKind, sentences: string, facts: JsonObject = {}) {
		super(sentences);
		this.kind = kind;
		this.facts = facts;
	}

	get code(): number {
		return refusals[this.kind];
	}

	/** The same, with further facts. */
	with(facts: JsonObject): Refusal {
		const refusal = new Refusal(this.kind, this.message, {...facts, ...this.facts});
		return this.actor ? refusal.by(this.actor) : refusal;
	}

	/** Sets the session that made the call. */
	by(actor: Actor): this {
		this.actor = actor;
		return this;
	}

	/** The result of the call. Clients show a model nothing but the text of it. */
	get result(): JsonObject {
		const {code, kind, message, facts} = this;
		return {
			content: [{type: 'text', text: `${message} (error ${code}, ${kind})`}],
			structuredContent: {error: {code, kind, message, ...facts}},
			isError: true,
		};
	}
}

/** What has no other name is a bug, which the log tells of. */
export const asRefusal = (error: unknown): Refusal =>
	error instanceof Refusal
		? error
		: new Refusal('internal', 'bridge failed to do this. Its log on stderr says more; try again.');
