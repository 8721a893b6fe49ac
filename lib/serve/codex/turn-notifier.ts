import {bridgeOrigin, Envelope, type MessageOrigin} from '../../core/envelope.js';
import type {StageOutputs} from '../../core/stage.js';
import {isAtLeast, isLogLevel} from '../../protocol/log-levels.js';
import {type CodexEvent, codexEvents} from './codex-event.js';
import type {TurnCall} from './turn-call.js';

/**
 * Minimum interval between identical progress notifications of a call. A message can arrive in hundreds of
 * pieces.
 */
const PROGRESS_INTERVAL_MS = 250;

/**
 * Sends notifications about turns: logging and progress for the client, and internal ones for the stages in
 * front.
 */
export class TurnNotifier {
	readonly #out: StageOutputs;
	readonly #now: () => number;
	#level = 'info';

	constructor(out: StageOutputs, now = () => performance.now()) {
		this.#out = out;
		this.#now = now;
	}

	/** Sets the minimum level of log notifications. Returns whether it is a valid level. */
	setLevel(level: unknown): boolean {
		if (isLogLevel(level)) this.#level = level;
		return isLogLevel(level);
	}

	/** Reports the thread of a call. For the stages in front only. */
	notifyThread(
		{id}: TurnCall,
		threadId: string,
		rolloutPath: string | undefined,
		origin: MessageOrigin,
	): void {
		this.#notify('notifications/io.bridge/thread', {requestId: id}, {threadId, rolloutPath}, origin);
	}

	/** Reports that the turn of a call has started. For the stages in front only. */
	notifyTurnStarted({id, threadId}: TurnCall, origin: MessageOrigin): void {
		this.#notify('notifications/io.bridge/turn_started', {requestId: id}, {threadId}, origin);
	}

	/** Reports the partial text of a turn after Codex has exited. For the stages in front only. */
	notifyPartialText({id, origin, transcript}: TurnCall): void {
		this.#notify('notifications/io.bridge/partial', {requestId: id}, {text: transcript.text}, origin);
	}

	/** Reports an event on a thread as a log notification, and as progress of the call that uses the thread. */
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

	warn(message: string, threadId?: string): void {
		this.notifyEvent(threadId, codexEvents.warning(message), undefined, bridgeOrigin);
	}

	/** Reports progress of a call. Repetitions of the last text are throttled. */
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

	/** Sends a notification. The values of `rawMembers` are JSON, which keeps ids exactly as received. */
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
