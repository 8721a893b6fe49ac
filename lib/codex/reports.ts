import {Envelope, local, type Origin} from '../envelope.js';
import {isAtLeast, isLevel} from '../protocol/log-levels.js';
import type {Outlets} from '../stage.js';
import type {Call} from './call.js';
import {type Happening, happenings} from './happening.js';

/** The least time until the same is told once more of the progress of a call: pieces of messages come by the hundred. */
const STEP_MS = 250;

/** What the stages in front are told beside answers: news of turns as logging and progress, and whose thread is which. */
export class Reports {
	readonly #out: Outlets;
	readonly #now: () => number;
	#level = 'info';

	constructor(out: Outlets, now = () => performance.now()) {
		this.#out = out;
		this.#now = now;
	}

	/** The client wants to hear of this and what is more important. Returns whether that is a level. */
	setLevel(level: unknown): boolean {
		if (isLevel(level)) this.#level = level;
		return isLevel(level);
	}

	/** For the stages in front alone: a call has this thread. */
	thread({id}: Call, threadId: string, rolloutPath: string | undefined, origin: Origin): void {
		this.#tell('notifications/io.bridge/thread', {requestId: id}, {threadId, rolloutPath}, origin);
	}

	/** For the stages in front alone: the turn of a call runs. */
	turnStarted({id, threadId}: Call, origin: Origin): void {
		this.#tell('notifications/io.bridge/turn_started', {requestId: id}, {threadId}, origin);
	}

	/** For the stages in front alone: Codex has ended, and the agent had said this in the turn of a call. */
	partial({id, origin, speech}: Call): void {
		this.#tell('notifications/io.bridge/partial', {requestId: id}, {text: speech.text}, origin);
	}

	/** Something happened on a thread; it counts as progress of the call that has the turn there. */
	happened(threadId: string | undefined, happening: Happening, call: Call | undefined, origin: Origin): void {
		const {level, type, facts, summary} = happening;
		if (isAtLeast(level, this.#level)) {
			const data = {threadId, type, ...facts};
			this.#tell('notifications/message', {}, {level, logger: 'codex', data}, origin);
		}
		if (call) this.progress(call, summary, origin);
	}

	/** Something that is wrong, and that people should know. */
	warn(message: string, threadId?: string): void {
		this.happened(threadId, happenings.warning(message), undefined, local);
	}

	/** A call goes on. That it still does the same is told of now and then. */
	progress(call: Call, message: string, origin: Origin): void {
		const {progressToken} = call;
		if (progressToken === undefined || call.isAnswered || call.isCancelled) return;
		const now = this.#now();
		if (message === call.lastStep && now - call.steppedAt < STEP_MS) return;
		call.lastStep = message;
		call.steppedAt = now;
		call.steps++;
		this.#tell('notifications/progress', {progressToken}, {progress: call.steps, message}, origin);
	}

	/** A notification; `verbatim` are members whose values are JSON already, as ids have to be. */
	#tell(method: string, verbatim: {readonly [name: string]: string}, params: object, origin: Origin): void {
		const first = Object.entries(verbatim).map(([name, json]) => `"${name}":${json},`);
		const members = `${first.join('')}${JSON.stringify(params).slice(1)}`;
		const json = `{"jsonrpc":"2.0","method":"${method}","params":{${members}}`;
		this.#out.toClient(Envelope.fromText(json, origin));
	}
}
