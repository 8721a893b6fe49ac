import type {JsonObject} from '../../util/json.js';
import type {AuditEntry} from './types.js';

/** The error codes of tool calls. ATM's codes are used where ATM defines one. */
export const toolErrorCodes = {
	/** Codex did not complete the turn. */
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

type AuditActor = Pick<AuditEntry, 'identity' | 'codexId' | 'threadId'>;

/** A failed tool call. The message contains all facts, since a model only reads that text. */
export class ToolError extends Error {
	override readonly name = 'ToolError';
	readonly kind: ToolErrorKind;
	readonly details: JsonObject;
	/** The authenticated caller. Not set for an identity that is only claimed. */
	actor: AuditActor | undefined;

	constructor(kind: ToolErrorKind, sentences: string, details: JsonObject = {}) {
		super(sentences);
		this.kind = kind;
		this.details = details;
	}

	get code(): number {
		return toolErrorCodes[this.kind];
	}

	withDetails(details: JsonObject): ToolError {
		const toolError = new ToolError(this.kind, this.message, {...details, ...this.details});
		return this.actor ? toolError.setActor(this.actor) : toolError;
	}

	setActor(actor: AuditActor): this {
		this.actor = actor;
		return this;
	}

	/** The tool result. Clients pass only its text to the model. */
	get result(): JsonObject {
		const {code, kind, message, details} = this;
		return {
			content: [{type: 'text', text: `${message} (error ${code}, ${kind})`}],
			structuredContent: {error: {code, kind, message, ...details}},
			isError: true,
		};
	}
}

/** Converts an unexpected error into an internal `ToolError` without its details. The caller logs the bug. */
export const toToolError = (error: unknown): ToolError =>
	error instanceof ToolError
		? error
		: new ToolError(
				'internal',
				'The call failed because of an internal error in bridge. See its log on stderr, and retry the call.',
			);
