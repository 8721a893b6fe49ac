import {cancellingAs, change} from '../change.js';
import {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {isAtLeast} from '../protocol/log-levels.js';
import {modernTools} from '../protocol/modern-output.js';
import {ParkedCalls, unknownState} from '../protocol/parked-calls.js';
import {tellOfLoss} from '../protocol/report.js';
import type {Session} from '../protocol/session.js';
import {
	discovered,
	envelopeProblem,
	FOREIGN_VALUES,
	haveForeignValues,
	modernError,
	modernResult,
	withoutEnvelope,
} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import type {WaitingRequests} from '../waiting-requests.js';
import {warnLimited} from '../warn-limited.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {canonicalId} from '../wire/id.js';
import {CallTable, cancelledId} from './call-table.js';
import {
	abandon,
	addQuestion,
	askable,
	inputRequired,
	latestWith,
	type ModernCall,
	type Needed,
	newCall,
	placesToGo,
	progressFor,
	questionsOf,
	sizeOf,
	tokenOf,
	withdraw,
} from './modern-call.js';
import {Listeners} from './modern-listeners.js';
import {ServerLogLevel} from './modern-log-level.js';

export type ModernClientOptions = {
	readonly session: Session;
	readonly log: Log;
	/** The requests of the client that wait for an answer. */
	readonly waiting: WaitingRequests;
};

/** Makes a client of the era without handshake look like one of 2025-11-25 that has shaken hands. */
export function modernClient(options: ModernClientOptions): Stage {
	return stage(out => new ModernClient(options, out));
}

class ModernClient implements Steps {
	readonly #session: Session;
	readonly #log: Log;
	readonly #out: Outlets;
	readonly #listeners: Listeners;
	readonly #calls = new CallTable<ModernCall>();
	readonly #parked: ParkedCalls<ModernCall>;
	readonly #logLevel: ServerLogLevel;

	constructor({session, log, waiting}: ModernClientOptions, out: Outlets) {
		this.#session = session;
		this.#log = log;
		this.#out = out;
		this.#listeners = new Listeners(session, waiting, out);
		this.#logLevel = new ServerLogLevel(session, out);
		const {newState} = session.options;
		this.#parked = new ParkedCalls({sizeOf, newState, onForgotten: call => this.#forget(call)});
	}

	get #isInPlace(): boolean {
		return this.#session.client === MODERN && this.#session.upstream !== MODERN;
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (!this.#isInPlace || method === undefined) return envelope;
		if (id !== undefined)
			return method === 'initialize' ? envelope : this.#request(envelope, id, method, answer);
		return method === 'notifications/cancelled' ? this.#cancelled(envelope) : envelope;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {id, key, method} = envelope.head;
		if (!this.#isInPlace) return envelope;
		if (method === undefined) return key === undefined ? envelope : this.#answered(envelope, key);
		return id === undefined ? this.#notified(envelope, method) : this.#asked(envelope, id, method);
	};

	readonly stopped = (): void => this.#listeners.stop();

	#request(envelope: Envelope, id: string, method: string, answer: Answer): Envelope | undefined {
		const params = objectOf(envelope.body.params);
		const problem = envelopeProblem(params);
		const reply = (member: 'result' | 'error', value: JsonObject): undefined =>
			void answer(Envelope.answer(id, member, value, envelope.origin));
		if (problem) return reply('error', problem);
		if (method === 'server/discover') return reply('result', this.#discovered());
		if (method === 'subscriptions/listen') return this.#listeners.open(envelope, reply);
		if (typeof params.requestState === 'string') {
			const call = this.#parked.take(params.requestState);
			if (!call) return reply('error', unknownState);
			if (!call.isOver) return this.#resume(call, id, envelope);
		}
		this.#logLevel.want(params);
		return this.#forward(envelope);
	}

	#discovered(): JsonObject {
		const {initializeResult = {}} = this.#session;
		if (haveForeignValues(initializeResult.capabilities))
			tellOfLoss(this.#session, this.#log, FOREIGN_VALUES);
		return discovered(initializeResult);
	}

	#forward(envelope: Envelope): Envelope {
		this.#calls.set(newCall(envelope));
		return change(envelope, body => {
			const {inputResponses: _responses, requestState: _state, ...rest} = objectOf(body.params);
			return {...body, params: withoutEnvelope(rest)};
		});
	}

	/** The client comes back with what the server asked for: it is no second call, but answers within the first. */
	#resume(call: ModernCall, id: string, retry: Envelope): undefined {
		const exact = new ExactNumbers();
		const {params} = objectOf(exact.parse(retry.line.toString()));
		const responses = objectOf(objectOf(params).inputResponses);
		call.id = id;
		this.#calls.rename(call, retry.head.key ?? '');
		call.token = tokenOf(retry.bytes);
		call.isParked = false;
		for (const [name, question] of [...call.questions]) {
			if (!Object.hasOwn(responses, name)) continue;
			call.questions.delete(name);
			const write = (value: unknown): string => exact.write(value);
			this.#out.toUpstream(Envelope.answer(question.id, 'result', responses[name], retry.origin, write));
		}
		if (call.answer) this.#finish(call, call.answer);
		else if (call.questions.size > 0 && !call.isParked) this.#park(call);
	}

	#park(call: ModernCall): void {
		const needed = questionsOf(call);
		if (needed.removed.size > 0)
			tellOfLoss(this.#session, this.#log, 'null and fractions in sampling metadata');
		call.isParked = true;
		this.#needInput(call, needed, this.#parked.add(call));
	}

	#forget(call: ModernCall): void {
		warnLimited(this.#log, 'client.call.forgotten', 'A call that waits for input was evicted for others.');
		if (abandon(call, this.#out)) this.#calls.cancel(call);
	}

	#needInput(call: ModernCall, needed: Needed, state: string): void {
		const {serverInfo} = this.#session.initializeResult ?? {};
		this.#out.toClient(inputRequired(call, needed, state, serverInfo));
	}

	#answered(envelope: Envelope, key: string): Envelope | undefined {
		if (this.#logLevel.answered(key) || this.#listeners.answered(envelope, key)) return;
		const call = this.#calls.take(key);
		if (!call) return envelope;
		if (!call.isParked) return this.#finish(call, envelope);
		call.answer = envelope;
		return this.#parked.trim();
	}

	/** Gives the client the answer to its call, under the id that it waits with now. */
	#finish(call: ModernCall, envelope: Envelope): undefined {
		const {serverInfo} = this.#session.initializeResult ?? {};
		const {error} = envelope.body;
		if (objectOf(error).code === -32042) return this.#sendAway(call, envelope);
		const modern = change(envelope, body =>
			error === undefined
				? {...body, result: modernResult(call.method, knownIn(body, call), serverInfo)}
				: {...body, error: modernError(objectOf(body.error))},
		);
		this.#out.toClient(call.id === modern.head.id ? modern : modern.withId(call.id));
	}

	/** The server wants the client to go somewhere first, and to ask again then. */
	#sendAway(call: ModernCall, {body}: Envelope): undefined {
		const needed = placesToGo(objectOf(body.error));
		if (needed) this.#needInput(call, needed, this.#parked.add({...call, isOver: true}));
		// It does not say where to go, and the code means nothing to the client.
		else this.#out.toClient(Envelope.answer(call.id, 'error', {...objectOf(body.error), code: -32603}));
	}

	/** The server asks something. The client can only be told so in the answer to something that it has asked. */
	#asked(envelope: Envelope, id: string, method: string): undefined {
		const refuse = (message: string, code = -32601): undefined =>
			void this.#out.toUpstream(Envelope.answer(id, 'error', {code, message}, envelope.origin));
		if (method === 'ping')
			return void this.#out.toUpstream(Envelope.answer(id, 'result', {}, envelope.origin));
		const capability = askable.get(method);
		if (capability === undefined) return refuse(`Method not found: ${method} (the client speaks ${MODERN})`);
		const call = latestWith(capability, this.#calls.values());
		if (!call)
			return refuse(`Method not found: no request is under way that can carry ${method} to the client`);
		if (!this.#parked.hasRoom(call, call.questions.size, envelope.size))
			return refuse('Too many or too large requests wait for the client within one call', -32603);
		addQuestion(call, envelope, id, method);
		if (call.isParked) this.#parked.trim();
		else this.#park(call);
	}

	#notified(envelope: Envelope, method: string): Envelope | undefined {
		switch (method) {
			case 'notifications/message': {
				const {level} = objectOf(envelope.body.params);
				return [...this.#calls.values()].some(call => isAtLeast(level, call.logLevel)) ? envelope : undefined;
			}
			case 'notifications/progress':
				return progressFor(this.#calls.values(), envelope);
			case 'notifications/cancelled':
				return withdraw(this.#calls.values(), envelope);
			case 'notifications/tasks/status':
			case 'notifications/elicitation/complete':
				return;
			default:
				return this.#listeners.isConcernedWith(method) ? this.#listeners.tell(envelope, method) : envelope;
		}
	}

	/** The client gives a request up, by the id that it has now. */
	#cancelled(envelope: Envelope): Envelope | undefined {
		const id = cancelledId(envelope);
		if (id === undefined || this.#listeners.close(id)) return;
		const call = this.#calls.find(canonicalId(id));
		if (call) {
			call.isGivenUp = true;
			this.#calls.cancel(call);
		}
		const plain = change(envelope, body => ({...body, params: withoutEnvelope(objectOf(body.params))}));
		return call ? cancellingAs(plain, call.told) : plain;
	}
}

/** A result less the members that the version of the client has removed. */
const knownIn = ({result}: JsonObject, {method}: ModernCall): JsonObject =>
	method === 'tools/list' ? modernTools(objectOf(result)) : objectOf(result);
