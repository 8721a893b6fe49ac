import {BoundedMap} from '../bounded-map.js';
import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {isAtLeast} from '../protocol/log-levels.js';
import {ParkedCalls} from '../protocol/parked-calls.js';
import type {Session} from '../protocol/session.js';
import {
	callerOf,
	discovered,
	envelopeProblem,
	inputRequest,
	modernError,
	modernResult,
	withoutEnvelope,
} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {canonicalId, idWord} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {askable, type Call, isRepeat, newCall, resumable} from './modern-call.js';
import {Listeners} from './modern-listeners.js';

/** Calls of a client that may be under way at a time; the oldest is forgotten for the next. */
const MAX_CALLS = 65_536;

/** Makes a client of the era without handshake look like one of 2025-11-25 that has shaken hands. */
export function modernClient(session: Session): Stage {
	return stage(out => new ModernClient(session, out));
}

class ModernClient implements Steps {
	readonly #session: Session;
	readonly #out: Outlets;
	readonly #listeners: Listeners;
	/** By the key that the upstream knows the call by. */
	readonly #calls = new BoundedMap<string, Call>(MAX_CALLS);
	readonly #parked = new ParkedCalls<Call>();
	/** Keys of requests that bridge made of its own accord, and whose answers are for nobody. */
	readonly #own = new Set<string>();
	#logLevel: string | undefined;

	constructor(session: Session, out: Outlets) {
		this.#session = session;
		this.#out = out;
		this.#listeners = new Listeners(session, out);
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

	#request(envelope: Envelope, id: string, method: string, answer: Answer): Envelope | undefined {
		const params = objectOf(envelope.body.params);
		const problem = envelopeProblem(params);
		const reply = (member: 'result' | 'error', value: JsonObject): undefined =>
			void answer(Envelope.answer(id, member, value, envelope.origin));
		if (problem) return reply('error', problem);
		if (method === 'server/discover')
			return reply('result', discovered(this.#session.initializeResult ?? {}));
		if (method === 'subscriptions/listen') return this.#listeners.open(id, objectOf(params.notifications));
		if (typeof params.requestState === 'string') {
			const call = this.#parked.take(params.requestState);
			const message = 'Invalid params: requestState is unknown, or too old';
			if (!call) return reply('error', {code: -32602, message});
			if (!isRepeat(call)) return this.#resume(call, id, objectOf(params.inputResponses));
		}
		this.#setLogLevel(params);
		return this.#forward(envelope, id, method, params);
	}

	#forward(envelope: Envelope, id: string, method: string, params: JsonObject): Envelope {
		const {capabilities, logLevel} = callerOf(params);
		const {key = ''} = envelope.head;
		this.#calls.set(key, newCall({id, told: id, method, capabilities, logLevel}));
		return change(envelope, body => {
			const {inputResponses: _responses, requestState: _state, ...rest} = objectOf(body.params);
			return {...body, params: withoutEnvelope(rest)};
		});
	}

	/** A server with a level for all is set to what this request wants, where that is something else. */
	#setLogLevel(params: JsonObject): void {
		const {logLevel: level} = callerOf(params);
		const hasLogging = 'logging' in objectOf(this.#session.initializeResult?.capabilities);
		if (!hasLogging || level === undefined || level === this.#logLevel) return;
		this.#logLevel = level;
		const id = this.#session.ownId();
		this.#own.add(JSON.stringify(id));
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'logging/setLevel', params: {level}}));
	}

	/** The client comes back with what the server asked for: it is no second call, but answers within the first. */
	#resume(call: Call, id: string, responses: JsonObject): undefined {
		call.id = id;
		call.parked = undefined;
		for (const [key, question] of call.questions) {
			const result = responses[idWord(question.id)];
			if (result === undefined) continue;
			call.questions.delete(key);
			this.#out.toUpstream(Envelope.answer(question.id, 'result', result));
		}
		if (call.answer) this.#finish(call, call.answer);
		else if (call.questions.size > 0) this.#park(call);
	}

	#park(call: Call): void {
		call.parked = this.#parked.add(call);
		const requests = [...call.questions.values()].map(({id, method, params}) => [
			idWord(id),
			inputRequest(method, params),
		]);
		this.#needInput(call.id, Object.fromEntries(requests), call.parked);
	}

	#needInput(id: string, inputRequests: JsonObject, requestState: string): void {
		const {serverInfo} = this.#session.initializeResult ?? {};
		const result = {resultType: 'input_required', inputRequests, requestState};
		const whole = {...modernResult('', {}, serverInfo), ...result};
		// The call goes on under its id, which the client must not use for another meanwhile.
		this.#out.toClient(Envelope.of({jsonrpc: '2.0', id: JSON.parse(id), result: whole}));
	}

	#answered(envelope: Envelope, key: string): Envelope | undefined {
		if (this.#own.delete(key) || this.#listeners.answered(envelope, key)) return;
		const call = this.#calls.take(key);
		if (!call) return envelope;
		if (call.parked === undefined) return this.#finish(call, envelope);
		call.answer = envelope;
		return;
	}

	/** Gives the client the answer to its call, under the id that it waits with now. */
	#finish(call: Call, envelope: Envelope): undefined {
		const {serverInfo} = this.#session.initializeResult ?? {};
		const {error} = envelope.body;
		if (objectOf(error).code === -32042) return this.#sendAway(call, objectOf(error));
		const modern = change(envelope, body =>
			error === undefined
				? {...body, result: modernResult(call.method, objectOf(body.result), serverInfo)}
				: {...body, error: modernError(objectOf(body.error))},
		);
		this.#out.toClient(call.id === modern.head.id ? modern : modern.withId(call.id));
	}

	/** The server wants the client to go somewhere first, and to ask again then. */
	#sendAway(call: Call, {data}: JsonObject): undefined {
		const requests = (objectOf(data).elicitations as unknown[] | undefined)?.map(objectOf) ?? [];
		const entries = requests.map(({elicitationId, ...params}) => [
			String(elicitationId),
			inputRequest('elicitation/create', params),
		]);
		const repeat = newCall({...call, told: ''});
		this.#needInput(call.id, Object.fromEntries(entries), this.#parked.add(repeat));
	}

	/** The server asks something. The client can only be told so in the answer to something that it has asked. */
	#asked(envelope: Envelope, id: string, method: string): undefined {
		const refuse = (code: number, message: string): undefined =>
			void this.#out.toUpstream(Envelope.answer(id, 'error', {code, message}, envelope.origin));
		if (method === 'ping')
			return void this.#out.toUpstream(Envelope.answer(id, 'result', {}, envelope.origin));
		const capability = askable.get(method);
		if (capability === undefined)
			return refuse(-32601, `Method not found: ${method} (the client speaks ${MODERN})`);
		const call = this.#latestWith(capability);
		if (!call)
			return refuse(
				-32601,
				`Method not found: no request is under way that can carry ${method} to the client`,
			);
		call.questions.set(canonicalId(id), {id, method, params: envelope.body.params});
		if (call.parked === undefined) this.#park(call);
	}

	/** The last call that can carry a question: what asks is not told, and the last is the likeliest. */
	#latestWith(capability: string): Call | undefined {
		return [...this.#calls.values()].findLast(
			({method, capabilities}) => resumable.includes(method) && capability in capabilities,
		);
	}

	#notified(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/message') {
			const {level} = objectOf(envelope.body.params);
			return [...this.#calls.values()].some(call => isAtLeast(level, call.logLevel)) ? envelope : undefined;
		}
		if (method === 'notifications/cancelled') return this.#questionCancelled(envelope);
		if (method === 'notifications/tasks/status' || method === 'notifications/elicitation/complete') return;
		return this.#listeners.isConcernedWith(method) ? this.#listeners.tell(envelope, method) : envelope;
	}

	/** The server no longer wants to know. */
	#questionCancelled(envelope: Envelope): undefined {
		const key = canonicalId(memberText(envelope.bytes, 'params', 'requestId') ?? '""');
		for (const call of this.#calls.values()) call.questions.delete(key);
	}

	/** The client gives a request up, by the id that it has now. */
	#cancelled(envelope: Envelope): Envelope | undefined {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id === undefined || this.#listeners.close(id)) return;
		const [key, call] = [...this.#calls].find(([, call]) => call.id === id) ?? [];
		if (key === undefined || call === undefined) return envelope;
		// It may be answered no more, and then must not be taken for the one that a server asks for.
		this.#calls.delete(key);
		if (call.told === id) return envelope;
		return change(envelope, body => ({
			...body,
			params: {...objectOf(body.params), requestId: JSON.parse(call.told)},
		}));
	}
}
