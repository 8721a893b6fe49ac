import {BoundedMap} from '../bounded-map.js';
import type {Origin} from '../envelope.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {knownArguments, strangerIn, threadParams, turnParams} from './app-arguments.js';
import type {AppAsker} from './app-asker.js';
import {type Call, text} from './call.js';
import {explained} from './explain.js';
import {failed, interrupted, type Outcome} from './outcome.js';
import type {Backend, Turns} from './turns.js';

/** Threads that are known to be loaded; the oldest is forgotten for the next, and loaded once more when it is needed. */
const MAX_LOADED = 10_000;

/** Where a caller of `codex-reply` may say what a thread is to be resumed with, in the words of `codex`. */
export const RESUME_META = 'io.bridge/resume';

/** Where it may say which settings the turn and later ones are to have, in the words of `codex`. */
export const SETTINGS_META = 'io.bridge/settings';

const unknownThread = /^(?:no rollout found|invalid session id|thread not found)/;

export type AppTurnsOptions = {
	readonly asker: AppAsker;
	/** The folder that others are seen from. */
	readonly cwd: string;
	/** No more of what was asked on this thread. */
	readonly ended: (threadId: string) => void;
};

/** Calls as threads and turns of `codex app-server`. */
export class AppTurns implements Backend {
	readonly #asker: AppAsker;
	readonly #cwd: string;
	readonly ended: (threadId: string) => void;
	readonly #loaded = new BoundedMap<string, true>(MAX_LOADED);
	#turns: Turns | undefined;
	/** What is wrong with the configuration, if Codex said so. */
	broken: string | undefined;

	constructor({asker, cwd, ended}: AppTurnsOptions) {
		this.#asker = asker;
		this.#cwd = cwd;
		this.ended = ended;
	}

	/** Whom to tell of what becomes of turns. */
	serve(turns: Turns): void {
		this.#turns = turns;
	}

	begin(call: Call): void {
		const {threadId, given} = call;
		const stranger = call.isReply ? undefined : strangerIn(given);
		if (stranger !== undefined)
			this.#finish(call, failed(`codex has no argument ${stranger}. It has ${knownArguments}.`));
		else if (threadId === undefined) this.#startThread(call);
		else if (this.#loaded.has(threadId)) this.#startTurn(call, threadId, true);
		else this.#resume(call, threadId);
	}

	interrupt(call: Call): void {
		const {threadId, turnId} = call;
		// Refused when the turn was faster; what it came to is told then.
		this.#asker.ask(
			'turn/interrupt',
			{threadId, turnId},
			() => {},
			() => {},
		);
	}

	/** Codex responds to an unknown method with an error. */
	probe(answered: () => void): void {
		this.#asker.ask('ping', {}, answered, answered);
	}

	/** Codex has put a thread out of its memory. */
	unloaded(threadId: string): void {
		this.#loaded.delete(threadId);
	}

	/** What Codex says of a turn that is over. */
	completed(call: Call, turn: JsonObject): void {
		if (call.turnId !== undefined && call.turnId !== turn.id) return;
		if (turn.status === 'interrupted') this.#turns?.stopped(call);
		else this.#finish(call, outcomeOf(turn, call));
	}

	#finish(call: Call, outcome: Outcome): void {
		this.#turns?.finish(call, outcome);
	}

	#startThread(call: Call): void {
		this.#asker.ask(
			'thread/start',
			threadParams(call.given, this.#cwd),
			({thread}, origin) => this.#opened(call, objectOf(thread), origin),
			reason => this.#finish(call, failed(this.broken ?? `Codex started no thread: ${explained(reason)}`)),
		);
	}

	#resume(call: Call, threadId: string): void {
		const params = threadParams(objectOf(call.meta[RESUME_META]), this.#cwd);
		this.#asker.ask(
			'thread/resume',
			{...params, threadId, excludeTurns: true},
			({thread}, origin) => this.#opened(call, objectOf(thread), origin),
			reason => this.#finish(call, this.broken ? failed(this.broken) : notResumed(threadId, reason)),
		);
	}

	#opened(call: Call, {id, path}: JsonObject, origin: Origin): void {
		const threadId = text(id) ?? '';
		this.#loaded.set(threadId, true);
		// It was given up before Codex responded, and its thread may be in use by another call.
		if (call.isOver) return;
		this.#turns?.knowThread(call, threadId, text(path), origin);
		this.#startTurn(call, threadId, false);
	}

	/** `mayReload`: whether the thread may have been put out of memory in the meantime. */
	#startTurn(call: Call, threadId: string, mayReload: boolean): void {
		if (this.broken !== undefined) return void this.#finish(call, failed(this.broken));
		if (call.isCancelled) return void this.#finish(call, interrupted(call));
		const input = [{type: 'text', text: call.prompt}];
		this.#asker.ask(
			'turn/start',
			{...turnParams(objectOf(call.meta[SETTINGS_META]), this.#cwd), threadId, input},
			({turn}) => {
				call.isAcknowledged = true;
				call.turnId ??= text(objectOf(turn).id);
				if (call.isOver) this.interrupt(call);
			},
			reason => {
				this.unloaded(threadId);
				if (call.isOver) return;
				if (mayReload && unknownThread.test(reason)) this.#resume(call, threadId);
				else this.#finish(call, failed(`Codex started no turn: ${explained(reason)}`));
			},
		);
	}
}

function notResumed(threadId: string, reason: string): Outcome {
	const what = `Codex cannot go on with thread ${threadId}: ${explained(reason)}`;
	// Somebody else works on that thread: to go on elsewhere as if it were gone would be wrong.
	if (reason.includes('active writer')) return failed(what);
	return {status: 'unknown_thread', text: `${what}. Start a new one with codex.`};
}

function outcomeOf({status, items, error}: JsonObject, call: Call): Outcome {
	const messages = listOf(items)
		.map(objectOf)
		.filter(({type}) => type === 'agentMessage');
	const said = text(messages.at(-1)?.text) ?? call.speech.text;
	if (status === 'completed') return {status, text: said};
	const {message, additionalDetails} = objectOf(error);
	const details = text(additionalDetails) ? `\n${additionalDetails}` : '';
	return failed(`${text(message) ?? 'The turn failed.'}${details}`);
}
