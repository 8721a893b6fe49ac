/** All expected errors of bridge: the JSON-RPC code, `data.kind` and the exit status of each. */
export const errorCodes = {
	ERR_CONFIG_INVALID: {rpc: -32600, kind: 'invalid_request', exit: 2},
	ERR_CONFIG_UNTRUSTED: {rpc: -32600, kind: 'invalid_request', exit: 2},
	ERR_COMMAND_UNUSABLE: {rpc: -31001, kind: 'upstream_unavailable', exit: 2},
	ERR_UPSTREAM_UNREACHABLE: {rpc: -31001, kind: 'upstream_unavailable', exit: 1},
	ERR_UPSTREAM_INVALID: {rpc: -31001, kind: 'upstream_unavailable', exit: 1},
	ERR_UPSTREAM_TIMEOUT: {rpc: -31002, kind: 'timeout', exit: 1},
	ERR_SESSION_BUSY: {rpc: -31003, kind: 'overloaded', exit: 1},
	ERR_CHILD_EXITED: {rpc: -31004, kind: 'child_exited', exit: 1},
	ERR_SESSION_CLOSED: {rpc: -31005, kind: 'closed', exit: 1},
	ERR_SESSION_STALLED: {rpc: -31005, kind: 'closed', exit: 1},
	ERR_REQUEST_CANCELLED: {rpc: -31006, kind: 'cancelled', exit: 1},
	ERR_MESSAGE_TOO_LARGE: {rpc: -31007, kind: 'too_large', exit: 1},
	ERR_MESSAGE_MALFORMED: {rpc: -32700, kind: 'parse_error', exit: 1},
	ERR_MAIL_ADDRESS: {rpc: -32602, kind: 'unknown_recipient', exit: 2},
	ERR_MAIL_UNREADABLE: {rpc: -32603, kind: 'inbox_unreadable', exit: 1},
	ERR_MESSAGE_INVALID: {rpc: -32600, kind: 'invalid_request', exit: 1},
	ERR_REQUEST_UNRECORDED: {rpc: -32602, kind: 'not_recorded', exit: 1},
	ERR_METHOD_UNRECORDED: {rpc: -32601, kind: 'not_recorded', exit: 1},
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Machine-readable facts in `data`, in addition to the message. */
export type ErrorDetails = {readonly [key: string]: string | number | boolean | null};

/** An expected error, with a message and a remedy for the user. */
export class BridgeError extends Error {
	override readonly name = 'BridgeError';
	readonly code: ErrorCode;
	readonly remedy: string;
	readonly details: ErrorDetails;
	/** Output of the upstream that shows the cause, such as the end of its stderr. May be empty. */
	readonly evidence: string;

	constructor(code: ErrorCode, message: string, remedy: string, details: ErrorDetails = {}, evidence = '') {
		super(message);
		this.code = code;
		this.remedy = remedy;
		this.details = details;
		this.evidence = evidence;
	}

	/**
	 * The text for people: the message, the evidence, then the remedy. A message may be a list with one item
	 * per line. Evidence is another program's text and may lack a full stop, so the remedy starts a new line
	 * after it.
	 */
	get sentence(): string {
		if (this.remedy === '') return this.reason;
		if (this.evidence !== '') return `${this.reason}\n${this.remedy}`;
		return `${this.message}${this.message.endsWith('\n') ? '' : ' '}${this.remedy}`;
	}

	/** The message with the evidence, without the remedy. */
	get reason(): string {
		return this.evidence === '' ? this.message : `${this.message} ${this.evidence}`;
	}

	get exitCode(): number {
		return errorCodes[this.code].exit;
	}

	/** The `error` member of a JSON-RPC response. */
	toRpc(): {code: number; message: string; data: ErrorDetails} {
		const {rpc, kind} = errorCodes[this.code];
		return {code: rpc, message: this.sentence, data: {source: 'bridge', kind, ...this.details}};
	}
}
