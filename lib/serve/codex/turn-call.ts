import type {Envelope, MessageOrigin} from '../../core/envelope.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {marks} from '../../wire/marks.js';
import {memberText} from '../../wire/member.js';
import {TurnTranscript} from './turn-transcript.js';

const MAX_COMMANDS = 20;

/** A call of `codex` or `codex-reply`, from its arrival to the end of its turn. */
export class TurnCall {
	/** The JSON-RPC id, as JSON. */
	readonly id: string;
	readonly key: string;
	readonly origin: MessageOrigin;
	readonly isReply: boolean;
	readonly args: JsonObject;
	readonly meta: JsonObject;
	/** The progress token, as JSON. */
	readonly progressToken: string | undefined;
	readonly transcript = new TurnTranscript();
	threadId: string | undefined;
	/** The turn id of Codex, once it is known. */
	turnId: string | undefined;
	/** Whether Codex has responded to the request for the turn, or has sent any event of it. */
	isAcknowledged = false;
	/** Whether the turn has started and can be interrupted. */
	hasStarted = false;
	isCancelled = false;
	/** Whether the response was sent. The turn may still be running. */
	hasResponse = false;
	/** Whether the thread was released: the turn has ended, or was abandoned before Codex acknowledged it. */
	isFinished = false;
	/** Why bridge abandoned the turn, if the client did not cancel it. */
	failureReason: string | undefined;
	/** Limits the time from the cancellation to the response. */
	stopTimer: NodeJS.Timeout | undefined;
	/** Limits the time until the turn starts. */
	startTimer: NodeJS.Timeout | undefined;
	/** The running commands of the turn, by id. */
	readonly commands = new BoundedMap<string, string>(MAX_COMMANDS);
	/** Approvals that were declined without asking the user. */
	readonly declined: Array<{readonly message: string; readonly reason: string}> = [];
	/** The number of progress notifications, and the text and time of the last one. */
	progressCount = 0;
	lastProgress = '';
	lastProgressAt = Number.NEGATIVE_INFINITY;

	constructor(envelope: Envelope) {
		const {id = '', key = '', marks: seenMarks} = envelope.head;
		const {name, arguments: args, _meta} = objectOf(envelope.body.params);
		this.id = id;
		this.key = key;
		this.origin = envelope.origin;
		this.isReply = name === 'codex-reply';
		this.args = objectOf(args);
		this.meta = objectOf(_meta);
		const hasToken = (seenMarks & marks.progressToken) !== 0;
		this.progressToken = hasToken
			? memberText(envelope.bytes, 'params', '_meta', 'progressToken')
			: undefined;
		const {threadId, conversationId} = this.args;
		if (this.isReply) this.threadId = stringOrUndefined(threadId ?? conversationId);
	}

	get prompt(): string | undefined {
		return stringOrUndefined(this.args.prompt);
	}
}

export const stringOrUndefined = (value: unknown): string | undefined =>
	typeof value === 'string' ? value : undefined;
