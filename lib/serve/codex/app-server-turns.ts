import type {MessageOrigin} from '../../core/envelope.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import type {AppServerClient} from './app-server-client.js';
import {findUnknownArgument, knownArgumentList, threadParams, turnParams} from './app-server-params.js';
import {type CodexOutcome, failedOutcome, interruptedOutcome} from './codex-outcome.js';
import type {CodexTurns, TurnBackend} from './codex-turns.js';
import {explainCodexError} from './explain-codex-error.js';
import {stringOrUndefined, type TurnCall} from './turn-call.js';

/** Threads that are known to be loaded; the oldest is forgotten for the next, and loaded once more when it is needed. */
const MAX_LOADED = 10_000;

/** Where a caller of `codex-reply` may say what a thread is to be resumed with, in the words of `codex`. */
export const RESUME_META = 'io.bridge/resume';

/** Where it may say which settings the turn and later ones are to have, in the words of `codex`. */
export const SETTINGS_META = 'io.bridge/settings';

const unknownThreadPattern = /^(?:no rollout found|invalid session id|thread not found)/;

type AppServerTurnsOptions = {
	readonly rpc: AppServerClient;
	/** The folder that others are seen from. */
	readonly cwd: string;
	/** No more of what was asked on this thread. */
	readonly onTurnEnded: (threadId: string) => void;
};

/** Calls as threads and turns of `codex app-server`. */
export class AppServerTurns implements TurnBackend {
	readonly #rpc: AppServerClient;
	readonly #cwd: string;
	readonly turnEnded: (threadId: string) => void;
	readonly #loaded = new BoundedMap<string, true>(MAX_LOADED);
	#turns: CodexTurns | undefined;
	/** What is wrong with the configuration, if Codex said so. */
	configError: string | undefined;

	constructor({rpc, cwd, onTurnEnded}: AppServerTurnsOptions) {
		this.#rpc = rpc;
		this.#cwd = cwd;
		this.turnEnded = onTurnEnded;
	}

	/** Whom to tell of what becomes of turns. */
	attach(turns: CodexTurns): void {
		this.#turns = turns;
	}

	startTurn(call: TurnCall): void {
		const {threadId, args} = call;
		const unknownArgument = call.isReply ? undefined : findUnknownArgument(args);
		if (unknownArgument !== undefined)
			this.#finish(
				call,
				failedOutcome(`codex has no argument ${unknownArgument}. It has ${knownArgumentList}.`),
			);
		else if (threadId === undefined) this.#startThread(call);
		else if (this.#loaded.has(threadId)) this.#sendTurnStart(call, threadId, true);
		else this.#resumeThread(call, threadId);
	}

	interruptTurn(call: TurnCall): void {
		const {threadId, turnId} = call;
		// Refused when the turn was faster; what it came to is told then.
		this.#rpc.request(
			'turn/interrupt',
			{threadId, turnId},
			() => {},
			() => {},
		);
	}

	/** Codex responds to an unknown method with an error. */
	probe(answered: () => void): void {
		this.#rpc.request('ping', {}, answered, answered);
	}

	/** Codex has put a thread out of its memory. */
	markUnloaded(threadId: string): void {
		this.#loaded.delete(threadId);
	}

	/** What Codex says of a turn that is over. */
	handleTurnCompleted(call: TurnCall, turn: JsonObject): void {
		if (call.turnId !== undefined && call.turnId !== turn.id) return;
		if (turn.status === 'interrupted') this.#turns?.finishStopped(call);
		else this.#finish(call, turnOutcome(turn, call));
	}

	#finish(call: TurnCall, outcome: CodexOutcome): void {
		this.#turns?.finish(call, outcome);
	}

	#startThread(call: TurnCall): void {
		this.#rpc.request(
			'thread/start',
			threadParams(call.args, this.#cwd),
			({thread}, origin) => this.#onThreadOpened(call, objectOf(thread), origin),
			reason =>
				this.#finish(
					call,
					failedOutcome(this.configError ?? `Codex started no thread: ${explainCodexError(reason)}`),
				),
		);
	}

	#resumeThread(call: TurnCall, threadId: string): void {
		const params = threadParams(objectOf(call.meta[RESUME_META]), this.#cwd);
		this.#rpc.request(
			'thread/resume',
			{...params, threadId, excludeTurns: true},
			({thread}, origin) => this.#onThreadOpened(call, objectOf(thread), origin),
			reason =>
				this.#finish(
					call,
					this.configError ? failedOutcome(this.configError) : resumeFailure(threadId, reason),
				),
		);
	}

	#onThreadOpened(call: TurnCall, {id, path}: JsonObject, origin: MessageOrigin): void {
		const threadId = stringOrUndefined(id) ?? '';
		this.#loaded.set(threadId, true);
		// It was given up before Codex responded, and its thread may be in use by another call.
		if (call.isFinished) return;
		this.#turns?.setThread(call, threadId, stringOrUndefined(path), origin);
		this.#sendTurnStart(call, threadId, false);
	}

	/** `mayReload`: whether the thread may have been put out of memory in the meantime. */
	#sendTurnStart(call: TurnCall, threadId: string, canReload: boolean): void {
		if (this.configError !== undefined) return void this.#finish(call, failedOutcome(this.configError));
		if (call.isCancelled) return void this.#finish(call, interruptedOutcome(call));
		const input = [{type: 'text', text: call.prompt}];
		this.#rpc.request(
			'turn/start',
			{...turnParams(objectOf(call.meta[SETTINGS_META]), this.#cwd), threadId, input},
			({turn}) => {
				call.isAcknowledged = true;
				call.turnId ??= stringOrUndefined(objectOf(turn).id);
				if (call.isFinished) this.interruptTurn(call);
			},
			reason => {
				this.markUnloaded(threadId);
				if (call.isFinished) return;
				if (canReload && unknownThreadPattern.test(reason)) this.#resumeThread(call, threadId);
				else this.#finish(call, failedOutcome(`Codex started no turn: ${explainCodexError(reason)}`));
			},
		);
	}
}

function resumeFailure(threadId: string, reason: string): CodexOutcome {
	const sentence = `Codex cannot go on with thread ${threadId}: ${explainCodexError(reason)}`;
	// Somebody else works on that thread: to go on elsewhere as if it were gone would be wrong.
	if (reason.includes('active writer')) return failedOutcome(sentence);
	return {status: 'unknown_thread', text: `${sentence}. Start a new one with codex.`};
}

function turnOutcome({status, items, error}: JsonObject, call: TurnCall): CodexOutcome {
	const messages = listOf(items)
		.map(objectOf)
		.filter(({type}) => type === 'agentMessage');
	const lastMessage = stringOrUndefined(messages.at(-1)?.text) ?? call.transcript.text;
	if (status === 'completed') return {status, text: lastMessage};
	const {message, additionalDetails} = objectOf(error);
	const details = stringOrUndefined(additionalDetails) ? `\n${additionalDetails}` : '';
	return failedOutcome(`${stringOrUndefined(message) ?? 'The turn failed.'}${details}`);
}
