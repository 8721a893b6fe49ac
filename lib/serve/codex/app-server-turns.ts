import type {MessageOrigin} from '../../core/envelope.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import type {AppServerClient} from './app-server-client.js';
import {findUnknownArgument, knownArgumentList, threadParams, turnParams} from './app-server-params.js';
import {type CodexOutcome, failedOutcome, interruptedOutcome} from './codex-outcome.js';
import type {CodexTurns, TurnBackend} from './codex-turns.js';
import {explainCodexError} from './explain-codex-error.js';
import {stringOrUndefined, type TurnCall} from './turn-call.js';

/** Limit on threads that are marked as loaded. A thread that is evicted is loaded again on its next turn. */
const MAX_LOADED = 10_000;

/** The `_meta` key of `codex-reply` for the settings to resume the thread with, as arguments of `codex`. */
export const RESUME_META = 'io.bridge/resume';

/** The `_meta` key for the settings of this turn and later ones, as arguments of `codex`. */
export const SETTINGS_META = 'io.bridge/settings';

const unknownThreadPattern = /^(?:no rollout found|invalid session id|thread not found)/;

type AppServerTurnsOptions = {
	readonly rpc: AppServerClient;
	/** The base of relative folders. */
	readonly cwd: string;
	/** Called when a turn on this thread has ended, to cancel its pending approvals. */
	readonly onTurnEnded: (threadId: string) => void;
};

/** Runs calls as threads and turns of `codex app-server`. */
export class AppServerTurns implements TurnBackend {
	readonly #rpc: AppServerClient;
	readonly #cwd: string;
	readonly turnEnded: (threadId: string) => void;
	readonly #loaded = new BoundedMap<string, true>(MAX_LOADED);
	#turns: CodexTurns | undefined;
	/** The error in the configuration, if Codex reported one. */
	configError: string | undefined;

	constructor({rpc, cwd, onTurnEnded}: AppServerTurnsOptions) {
		this.#rpc = rpc;
		this.#cwd = cwd;
		this.turnEnded = onTurnEnded;
	}

	/**
	 * Sets the receiver of turn outcomes. The constructor cannot take it, since the two objects reference each
	 * other.
	 */
	attach(turns: CodexTurns): void {
		this.#turns = turns;
	}

	startTurn(call: TurnCall): void {
		const {threadId, args} = call;
		const unknownArgument = call.isReply ? undefined : findUnknownArgument(args);
		if (unknownArgument !== undefined)
			this.#finish(
				call,
				failedOutcome(
					`Unknown argument "${unknownArgument}" for codex. Valid arguments: ${knownArgumentList}.`,
				),
			);
		else if (threadId === undefined) this.#startThread(call);
		else if (this.#loaded.has(threadId)) this.#sendTurnStart(call, threadId, true);
		else this.#resumeThread(call, threadId);
	}

	interruptTurn(call: TurnCall): void {
		const {threadId, turnId} = call;
		// Codex rejects this if the turn has already ended. Its outcome is reported in that case.
		this.#rpc.request(
			'turn/interrupt',
			{threadId, turnId},
			() => {},
			() => {},
		);
	}

	/** Codex responds to an unknown method with an error. */
	probe(onResponse: () => void): void {
		this.#rpc.request('ping', {}, onResponse, onResponse);
	}

	/** Records that Codex has unloaded a thread. */
	markUnloaded(threadId: string): void {
		this.#loaded.delete(threadId);
	}

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
					failedOutcome(this.configError ?? `Codex did not start a thread: ${explainCodexError(reason)}`),
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
		// The call was abandoned before Codex responded, and another call may use its thread.
		if (call.isFinished) return;
		this.#turns?.setThread(call, threadId, stringOrUndefined(path), origin);
		this.#sendTurnStart(call, threadId, false);
	}

	/** `canReload`: whether to resume the thread if Codex has unloaded it in the meantime. */
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
				else this.#finish(call, failedOutcome(`Codex did not start the turn: ${explainCodexError(reason)}`));
			},
		);
	}
}

function resumeFailure(threadId: string, reason: string): CodexOutcome {
	const sentence = `Codex cannot resume thread ${threadId}: ${explainCodexError(reason)}`;
	// Another program uses the thread. It still exists, so a new thread must not replace it.
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
