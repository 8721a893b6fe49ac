import {BoundedMap} from '../bounded-map.js';
import {Envelope, type Origin} from '../envelope.js';
import {type JsonObject, objectOf, without, worded} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {inputParams, withWhole} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {idWord} from '../wire/id.js';
import type {PendingCall} from './call-table.js';
import {askable} from './modern-call.js';

/** A request of a handshake client that a modern server has been asked. */
export type HandshakeCall = PendingCall & {
	/** As the client sent it, and not parsed, which takes many times the memory; undefined when it is cancelled. */
	readonly line: Buffer | undefined;
	readonly origin: Origin;
	/** The tool that it calls, if it calls one. */
	readonly tool: string | undefined;
	/** Its id as the client wrote it. */
	readonly id: string;
	/** Its id as the server knows it: another one in each round of input. */
	readonly told: string;
	readonly method: string;
	readonly round: number;
};

/** Sends a call once more, with these params. */
export type Retry = (call: HandshakeCall, params: JsonObject, exact: ExactNumbers) => void;

/** As often as a server may say that it needs more. */
const MAX_ROUNDS = 10;
/** Inputs that a server may request in one round. */
const MAX_INPUTS = 100;
/** Questions to the client that may be open at a time; the oldest is forgotten for the next. */
const MAX_QUESTIONS = 65_536;

/** A call on hold while its client is asked. */
type Round = {
	readonly call: HandshakeCall;
	readonly state: unknown;
	/** Names of what is asked, by the keys of the requests to the client. */
	readonly open: Map<string, {readonly name: string; readonly method: string}>;
	readonly responses: Map<string, unknown>;
	/** Keeps the numbers of the request and of all answers. */
	readonly exact: ExactNumbers;
};

/** Asks a handshake client for what a modern server needs, and the server again when all is there. */
export class InputRounds {
	readonly #session: Session;
	readonly #out: Outlets;
	readonly #retry: Retry;
	readonly #rounds = new BoundedMap<string, Round>(MAX_QUESTIONS);

	constructor(session: Session, out: Outlets, retry: Retry) {
		this.#session = session;
		this.#out = out;
		this.#retry = retry;
	}

	/** The server needs input: all questions are put at once. */
	begin(call: HandshakeCall, answer: Envelope): void {
		if (call.line === undefined) {
			this.#fail(call, 'The server needs input for a request that was cancelled.');
			return;
		}
		if (call.round >= MAX_ROUNDS) {
			this.#fail(call, `The server asked for input more than ${MAX_ROUNDS} times.`);
			return;
		}
		const exact = new ExactNumbers();
		const {result} = objectOf(exact.parse(answer.line.toString()));
		const {inputRequests, requestState: state} = withWhole('/inputRequests', objectOf(result));
		const round: Round = {call, state, open: new Map(), responses: new Map(), exact: new ExactNumbers()};
		const requests = Object.entries(objectOf(inputRequests));
		if (requests.length > MAX_INPUTS) {
			this.#fail(call, `The server requested ${requests.length} inputs at once; the limit is ${MAX_INPUTS}.`);
			return;
		}
		const unknown = requests.find(([, request]) => !askable.has(String(objectOf(request).method)));
		if (unknown) {
			this.#fail(call, `The server asked for input that nobody knows how to give: ${unknown[0]}.`);
			return;
		}
		const questions = requests.map(([name, request]) => {
			const {method, params} = objectOf(request);
			const id = this.#session.ownId();
			round.open.set(JSON.stringify(id), {name, method: worded(method)});
			return exact.write({
				jsonrpc: '2.0',
				id,
				method: worded(method),
				params: inputParams(method, params, id),
			});
		});
		for (const key of round.open.keys()) this.#rounds.set(key, round);
		if (questions.length === 0) this.#again(round);
		// One that cannot be put ends the round, and the others are not put then.
		for (const [at, key] of [...round.open.keys()].entries())
			if (this.#rounds.has(key)) this.#out.toClient(Envelope.fromText(questions[at] ?? '', call.origin));
	}

	/** The client has answered one. */
	answered(envelope: Envelope): void {
		const {key = '', hasError} = envelope.head;
		const round = this.#rounds.take(key);
		const question = round?.open.get(key);
		if (!round || !question) return;
		round.open.delete(key);
		if (hasError) {
			this.#giveUp(round, question.method, objectOf(envelope.body.error));
			return;
		}
		const {result} = objectOf(round.exact.parse(envelope.line.toString()));
		round.responses.set(question.name, without(objectOf(result), '_meta'));
		if (round.open.size === 0) this.#again(round);
	}

	#again({call, state, responses, exact}: Round): void {
		const {params} = objectOf(exact.parse(call.line?.toString() ?? '{}'));
		const round = call.round + 1;
		const told = JSON.stringify(`${idWord(call.id)}.r${round}`);
		const whole = {
			...without(objectOf(params), 'inputResponses', 'requestState'),
			...(responses.size > 0 ? {inputResponses: Object.fromEntries(responses)} : {}),
			...(state === undefined ? {} : {requestState: state}),
		};
		this.#retry({...call, told, toldKey: told, round}, whole, exact);
	}

	/** One question without an answer is enough to end the call. */
	#giveUp(round: Round, method: string, {code, message}: JsonObject): void {
		this.#withdraw(round);
		const isUnable = code === -32601 || code === -32602;
		const reason = isUnable
			? `needs input that this client cannot give: ${method} (protocol ${this.#session.client}).`
			: `needs input that this client did not give: ${method} (${worded(message)}).`;
		this.#fail(round.call, `The ${round.call.method === 'tools/call' ? 'tool' : 'server'} ${reason}`);
	}

	/** A model reads what is wrong with a tool; elsewhere there is nothing but the error. */
	#fail({id, method, origin}: HandshakeCall, text: string): void {
		const result = {isError: true, content: [{type: 'text', text}]};
		const answer =
			method === 'tools/call'
				? Envelope.answer(id, 'result', result, origin)
				: Envelope.answer(id, 'error', {code: -32603, message: text}, origin);
		this.#out.toClient(answer);
	}

	/** Whether a call that the client gives up is on hold here: it is over then, for the server has nothing to stop. */
	cancel(key: string): boolean {
		for (const round of this.#rounds.values())
			if (round.call.key === key) {
				this.#withdraw(round);
				return true;
			}
		return false;
	}

	#withdraw({open}: Round): void {
		for (const key of open.keys()) {
			this.#rounds.delete(key);
			const params = {requestId: JSON.parse(key), reason: 'no longer needed'};
			this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		}
		open.clear();
	}
}
