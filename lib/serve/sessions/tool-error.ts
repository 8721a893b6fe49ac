import type {JsonObject} from '../../util/json.js';
import type {AuditEntry} from './types.js';

/** What a tool call is refused for, with ATM's codes where ATM has one. */
export const toolErrorCodes = {
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

export type ToolErrorKind = keyof typeof toolErrorCodes;

/** The session that made a call, for the audit file. */
type AuditActor = Pick<AuditEntry, 'identity' | 'codexId' | 'threadId'>;

/** A tool call that is not done, or not to its end: the sentences are what a model reads, so they hold every fact. */
export class ToolError extends Error {
	override readonly name = 'ToolError';
	readonly kind: ToolErrorKind;
	readonly details: JsonObject;
	/** The caller, if it is proven. A claimed identity is not enough. */
	actor: AuditActor | undefined;

	constructor(kind: ToolErrorKind, sentences: string, details: JsonObject = {}) {
		super(sentences);
		this.kind = kind;
		this.details = details;
	}

	get code(): number {
		return toolErrorCodes[this.kind];
	}

	/** The same, with further facts. */
	withDetails(details: JsonObject): ToolError {
		const toolError = new ToolError(this.kind, this.message, {...details, ...this.details});
		return this.actor ? toolError.setActor(this.actor) : toolError;
	}

	/** Sets the session that made the call. */
	setActor(actor: AuditActor): this {
		this.actor = actor;
		return this;
	}

	/** The result of the call. Clients show a model nothing but the text of it. */
	get result(): JsonObject {
		const {code, kind, message, details} = this;
		return {
			content: [{type: 'text', text: `${message} (error ${code}, ${kind})`}],
			structuredContent: {error: {code, kind, message, ...details}},
			isError: true,
		};
	}
}

/** What has no other name is a bug, which the log tells of. */
export const toToolError = (error: unknown): ToolError =>
	error instanceof ToolError
		? error
		: new ToolError('internal', 'bridge failed to do this. Its log on stderr says more; try again.');
