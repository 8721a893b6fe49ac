import {editMessage} from '../../core/edit-message.js';
import {Envelope} from '../../core/envelope.js';
import {type Stage, type StageOutputs, type StageSteps, stage} from '../../core/stage.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {objectOf} from '../../util/json.js';
import {canonicalId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';
import type {AcceptedCalls} from '../sessions/accepted-calls.js';
import type {CodexSession} from '../sessions/codex-session.js';
import type {CodexSessions} from '../sessions/codex-sessions.js';
import type {TurnRunner} from '../sessions/turn-runner.js';

export type RunTurnsOptions = {
	readonly sessions: CodexSessions;
	readonly runner: TurnRunner;
	/** Calls that `injectContext` has prepared. */
	readonly calls: AcceptedCalls;
	/** Invoked when the client has closed its side. The connection to Codex stays open until it resolves. */
	readonly drained?: () => Promise<unknown>;
};

const MAX_CALLS = 65_536;

/** The prefix of internal notifications from backends. They are not forwarded to the client. */
const BACKEND_PREFIX = 'notifications/io.bridge/';

/**
 * Runs one turn per session at a time. Requests to Codex have their own ids: a client call can take several
 * requests, and turns for mail have no client call. Messages about a thread get the ids of its session.
 */
export const runTurns = (options: RunTurnsOptions): Stage => stage(out => new TurnStage(options, out));

class TurnStage implements StageSteps {
	readonly #options: RunTurnsOptions;
	readonly #out: StageOutputs;
	/** The sessions of pending calls, by request key of the client. */
	readonly #pendingCalls = new BoundedMap<string, CodexSession>(MAX_CALLS);

	constructor(options: RunTurnsOptions, out: StageOutputs) {
		this.#options = options;
		this.#out = out;
		options.runner.requests.attach(envelope => out.toUpstream(envelope));
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {key = '', method} = envelope.head;
		if (method === 'notifications/cancelled') return this.#cancelled(envelope);
		if (method === undefined) this.#options.runner.serverRequests.settle(key);
		const acceptedCall = method === 'tools/call' ? this.#options.calls.get(key) : undefined;
		if (!acceptedCall) return envelope;
		this.#options.calls.delete(key);
		const {id = 'null'} = envelope.head;
		const {name, arguments: args, _meta} = objectOf(envelope.body.params);
		this.#pendingCalls.set(key, acceptedCall.session);
		this.#options.runner.submit({
			...acceptedCall,
			turn: {id: key, source: 'client'},
			tool: name === 'codex' ? 'codex' : 'codex-reply',
			arguments: objectOf(args),
			meta: _meta === undefined ? undefined : objectOf(_meta),
			origin: envelope.origin,
			respond: result => {
				this.#pendingCalls.delete(key);
				this.#out.toClient(Envelope.response(id, 'result', result, envelope.origin));
			},
		});
		this.#notifyQueued(acceptedCall.session, key, objectOf(_meta).progressToken);
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key = '', method} = envelope.head;
		const {runner} = this.#options;
		if (method === undefined) {
			if (!runner.requests.isOwnKey(key)) return envelope;
			runner.handleResponse(key, envelope);
			return;
		}
		if (method.startsWith(BACKEND_PREFIX)) {
			const {requestId, threadId, text} = objectOf(envelope.body.params);
			const turnKey = JSON.stringify(requestId);
			if (method === `${BACKEND_PREFIX}thread`) runner.setThread(turnKey, threadId);
			if (method === `${BACKEND_PREFIX}turn_started`) runner.markTurnStarted(turnKey);
			const run = method === `${BACKEND_PREFIX}partial` ? runner.requests.find(turnKey) : undefined;
			if (run) run.partialText = String(text);
			return;
		}
		if (method === 'notifications/cancelled')
			runner.serverRequests.settle(JSON.stringify(objectOf(envelope.body.params).requestId));
		return this.#withSession(envelope, method);
	};

	/** Delays the end of the client's side until pending work is done, since turns still send to Codex. */
	readonly clientEnded = (done: () => void): void => {
		const {drained = async () => {}} = this.#options;
		void drained().finally(done);
	};

	#cancelled(envelope: Envelope): Envelope | undefined {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		const key = id === undefined ? '' : canonicalId(id);
		const session = this.#pendingCalls.get(key);
		if (!session) return envelope;
		this.#options.runner.cancel(session, key);
		return;
	}

	/** Sends a progress notification with the queue position, if the call has a progress token. */
	#notifyQueued({turnQueue, identity}: CodexSession, key: string, progressToken: unknown): void {
		const position = turnQueue.queue.findIndex(({id}) => id === key);
		if (position === -1 || progressToken === undefined) return;
		const message = `${identity} is busy. Turns ahead of this one: ${position + 1}.`;
		const params = {progressToken, progress: 0, message};
		this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/progress', params}));
	}

	/** Adds the session's ids to log messages and elicitations of a thread. */
	#withSession(envelope: Envelope, method: string): Envelope {
		const {sessions} = this.#options;
		if (method === 'notifications/message')
			return editMessage(envelope, body => {
				const params = objectOf(body.params);
				const data = objectOf(params.data);
				const session = sessions.findByThread(data.threadId);
				if (!session) return body;
				const {codexId, identity} = session;
				return {...body, params: {...params, data: {codex_id: codexId, identity, ...data}}};
			});
		if (method !== 'elicitation/create') return envelope;
		return editMessage(envelope, body => {
			const params = objectOf(body.params);
			const {'io.bridge/thread': threadId, ...meta} = objectOf(params._meta);
			const session = sessions.findByThread(threadId);
			if (!session) return {...body, params: {...params, _meta: meta}};
			this.#options.runner.serverRequests.add(threadId, envelope.head.key ?? '');
			const {codexId, identity} = session;
			const message = `${identity}: ${params.message}`;
			return {...body, params: {...params, message, _meta: {...meta, codex_id: codexId, identity}}};
		});
	}
}
