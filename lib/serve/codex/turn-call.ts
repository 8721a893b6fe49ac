import type {Envelope, MessageOrigin} from '../../core/envelope.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {marks} from '../../wire/marks.js';
import {memberText} from '../../wire/member.js';
import {TurnTranscript} from './turn-transcript.js';

const MAX_COMMANDS = 20;

/** A call of `codex` or `codex-reply`, from when it came until its turn is over. */
export class TurnCall {
	/** Its id, as it was written. */
	readonly id: string;
	readonly key: string;
	readonly origin: MessageOrigin;
	readonly isReply: boolean;
	/** The arguments. */
	readonly args: JsonObject;
	readonly meta: JsonObject;
	/** What its progress is told under, as it was written. */
	readonly progressToken: string | undefined;
	readonly transcript = new TurnTranscript();
	threadId: string | undefined;
	/** What Codex calls its turn, once that is known. */
	turnId: string | undefined;
	/** Whether Codex has responded to the request for the turn, or reported anything of it. */
	isAcknowledged = false;
	/** Whether the turn runs, and so can be interrupted. */
	hasStarted = false;
	isCancelled = false;
	/** Whether it has its answer. Its turn may run on all the same. */
	hasResponse = false;
	/** Whether its turn is over, or was given up before Codex had acknowledged it: its thread is free then. */
	isFinished = false;
	/** Why it was given up here, where that is not the caller's doing. */
	failureReason: string | undefined;
	/** Since when it is cancelled without having an answer. */
	stopTimer: NodeJS.Timeout | undefined;
	/** Runs until the turn starts. */
	startTimer: NodeJS.Timeout | undefined;
	/** The commands that its turn has started and that have not ended, by their ids. */
	readonly commands = new BoundedMap<string, string>(MAX_COMMANDS);
	/** Approvals that were declined without asking the user. */
	readonly declined: Array<{readonly message: string; readonly reason: string}> = [];
	/** How many times its progress was told, what last, and when. */
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

/** The value if it is a text. */
export const stringOrUndefined = (value: unknown): string | undefined =>
	typeof value === 'string' ? value : undefined;
