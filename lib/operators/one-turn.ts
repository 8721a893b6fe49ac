import {BoundedMap} from '../bounded-map.js';
import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import {objectOf} from '../protocol/json.js';
import type {AcceptedCalls} from '../sessions/accepted-calls.js';
import type {Session} from '../sessions/session.js';
import type {Sessions} from '../sessions/sessions.js';
import type {TurnRunner} from '../sessions/turn-runner.js';
import {type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';

export type OneTurnOptions = {
	readonly sessions: Sessions;
	readonly runner: TurnRunner;
	/** Calls that were made ready for their turn. */
	readonly calls: AcceptedCalls;
	/** Called when the client says no more; Codex is spoken to until it resolves. */
	readonly lastWords?: () => Promise<unknown>;
};

/** As many as may wait for an answer. */
const MAX_CALLS = 65_536;

/** What backends tell the stages above, and nobody else. */
const asides = 'notifications/io.bridge/';

/**
 * One turn of a session at a time, whoever wants it. What Codex is asked has ids of its own, so one call of the client's
 * may take several, and turns that no client asked for have theirs. What Codex says of a thread is told with its session.
 */
export const oneTurn = (options: OneTurnOptions): Stage => stage(out => new Turnstile(options, out));

class Turnstile implements Steps {
	readonly #options: OneTurnOptions;
	readonly #out: Outlets;
	/** The sessions of calls that are under way, by the keys of the client's requests. */
	readonly #open = new BoundedMap<string, Session>(MAX_CALLS);

	constructor(options: OneTurnOptions, out: Outlets) {
		this.#options = options;
		this.#out = out;
		options.runner.requests.attach(envelope => out.toUpstream(envelope));
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {key = '', method} = envelope.head;
		if (method === 'notifications/cancelled') return this.#cancelled(envelope);
		if (method === undefined) this.#options.runner.questions.settled(key);
		const accepted = method === 'tools/call' ? this.#options.calls.get(key) : undefined;
		if (!accepted) return envelope;
		this.#options.calls.delete(key);
		const {id = 'null'} = envelope.head;
		const {name, arguments: args, _meta} = objectOf(envelope.body.params);
		this.#open.set(key, accepted.session);
		this.#options.runner.ask({
			...accepted,
			turn: {id: key, source: 'client'},
			tool: name === 'codex' ? 'codex' : 'codex-reply',
			arguments: objectOf(args),
			meta: _meta === undefined ? undefined : objectOf(_meta),
			origin: envelope.origin,
			answer: result => {
				this.#open.delete(key);
				this.#out.toClient(Envelope.answer(id, 'result', result, envelope.origin));
			},
		});
		this.#tellPlace(accepted.session, key, objectOf(_meta).progressToken);
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key = '', method} = envelope.head;
		const {runner} = this.#options;
		if (method === undefined) {
			if (!runner.requests.isOwn(key)) return envelope;
			runner.answered(key, envelope);
			return;
		}
		if (method.startsWith(asides)) {
			const {requestId, threadId, text} = objectOf(envelope.body.params);
			const turn = JSON.stringify(requestId);
			if (method === `${asides}thread`) runner.threadKnown(turn, threadId);
			if (method === `${asides}turn_started`) runner.turnStarted(turn);
			const job = method === `${asides}partial` ? runner.requests.find(turn) : undefined;
			if (job) job.partial = String(text);
			return;
		}
		if (method === 'notifications/cancelled')
			runner.questions.settled(JSON.stringify(objectOf(envelope.body.params).requestId));
		return this.#named(envelope, method);
	};

	/** Codex still hears from here when the client says no more. */
	readonly clientDone = (done: () => void): void => {
		const {lastWords = async () => {}} = this.#options;
		void lastWords().finally(done);
	};

	#cancelled(envelope: Envelope): Envelope | undefined {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		const key = id === undefined ? '' : canonicalId(id);
		const session = this.#open.get(key);
		if (!session) return envelope;
		this.#options.runner.cancel(session, key);
		return;
	}

	/** Who waits for the turns of others is told so, if they want to know. */
	#tellPlace({turns, identity}: Session, key: string, progressToken: unknown): void {
		const place = turns.queue.findIndex(({id}) => id === key);
		if (place === -1 || progressToken === undefined) return;
		const message = `${identity} is busy; ${place + 1} turn${place === 0 ? '' : 's'} to wait for.`;
		const params = {progressToken, progress: 0, message};
		this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/progress', params}));
	}

	/** What Codex says of a thread, or asks in it, with the session that it is of. */
	#named(envelope: Envelope, method: string): Envelope {
		const {sessions} = this.#options;
		if (method === 'notifications/message')
			return change(envelope, body => {
				const params = objectOf(body.params);
				const data = objectOf(params.data);
				const session = sessions.ofThread(data.threadId);
				if (!session) return body;
				const {codexId, identity} = session;
				return {...body, params: {...params, data: {codex_id: codexId, identity, ...data}}};
			});
		if (method !== 'elicitation/create') return envelope;
		return change(envelope, body => {
			const params = objectOf(body.params);
			const {'io.bridge/thread': threadId, ...meta} = objectOf(params._meta);
			const session = sessions.ofThread(threadId);
			if (!session) return {...body, params: {...params, _meta: meta}};
			this.#options.runner.questions.asked(threadId, envelope.head.key ?? '');
			const {codexId, identity} = session;
			const message = `${identity}: ${params.message}`;
			return {...body, params: {...params, message, _meta: {...meta, codex_id: codexId, identity}}};
		});
	}
}
