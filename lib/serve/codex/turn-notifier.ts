import {bridgeOrigin, Envelope, type MessageOrigin} from '../../core/envelope.js';
import type {StageOutputs} from '../../core/stage.js';
import {isAtLeast, isLogLevel} from '../../protocol/log-levels.js';
import {type CodexEvent, codexEvents} from './codex-event.js';
import type {TurnCall} from './turn-call.js';

/** The least time until the same is told once more of the progress of a call: pieces of messages come by the hundred. */
const PROGRESS_INTERVAL_MS = 250;

/** What the stages in front are told beside answers: news of turns as logging and progress, and whose thread is which. */
export class TurnNotifier {
	readonly #out: StageOutputs;
	readonly #now: () => number;
	#level = 'info';

	constructor(out: StageOutputs, now = () => performance.now()) {
		this.#out = out;
		this.#now = now;
	}

	/** The client wants to hear of this and what is more important. Returns whether that is a level. */
	setLevel(level: unknown): boolean {
		if (isLogLevel(level)) this.#level = level;
		return isLogLevel(level);
	}

	/** For the stages in front alone: a call has this thread. */
	notifyThread(
		{id}: TurnCall,
		threadId: string,
		rolloutPath: string | undefined,
		origin: MessageOrigin,
	): void {
		this.#notify('notifications/io.bridge/thread', {requestId: id}, {threadId, rolloutPath}, origin);
	}

	/** For the stages in front alone: the turn of a call runs. */
	notifyTurnStarted({id, threadId}: TurnCall, origin: MessageOrigin): void {
		this.#notify('notifications/io.bridge/turn_started', {requestId: id}, {threadId}, origin);
	}

	/** For the stages in front alone: Codex has ended, and the agent had said this in the turn of a call. */
	notifyPartialText({id, origin, transcript: speech}: TurnCall): void {
		this.#notify('notifications/io.bridge/partial', {requestId: id}, {text: speech.text}, origin);
	}

	/** Something happened on a thread; it counts as progress of the call that has the turn there. */
	notifyEvent(
		threadId: string | undefined,
		event: CodexEvent,
		call: TurnCall | undefined,
		origin: MessageOrigin,
	): void {
		const {level, type, details, summary} = event;
		if (isAtLeast(level, this.#level)) {
			const data = {threadId, type, ...details};
			this.#notify('notifications/message', {}, {level, logger: 'codex', data}, origin);
		}
		if (call) this.notifyProgress(call, summary, origin);
	}

	/** Something that is wrong, and that people should know. */
	warn(message: string, threadId?: string): void {
		this.notifyEvent(threadId, codexEvents.warning(message), undefined, bridgeOrigin);
	}

	/** A call goes on. That it still does the same is told of now and then. */
	notifyProgress(call: TurnCall, message: string, origin: MessageOrigin): void {
		const {progressToken} = call;
		if (progressToken === undefined || call.hasResponse || call.isCancelled) return;
		const now = this.#now();
		if (message === call.lastProgress && now - call.lastProgressAt < PROGRESS_INTERVAL_MS) return;
		call.lastProgress = message;
		call.lastProgressAt = now;
		call.progressCount++;
		this.#notify('notifications/progress', {progressToken}, {progress: call.progressCount, message}, origin);
	}

	/** A notification; `verbatim` are members whose values are JSON already, as ids have to be. */
	#notify(
		method: string,
		rawMembers: {readonly [name: string]: string},
		params: object,
		origin: MessageOrigin,
	): void {
		const rawParts = Object.entries(rawMembers).map(([name, json]) => `"${name}":${json},`);
		const members = `${rawParts.join('')}${JSON.stringify(params).slice(1)}`;
		const json = `{"jsonrpc":"2.0","method":"${method}","params":{${members}}`;
		this.#out.toClient(Envelope.fromText(json, origin));
	}
}
