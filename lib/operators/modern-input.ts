import {BoundedMap} from '../bounded-map.js';
import {Envelope, type Origin} from '../envelope.js';
import {type JsonObject, objectOf, without} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {inputParams} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';
import {idWord} from '../wire/id.js';

/** A request that a modern server has been asked. */
export type Call = {
	/** Its id as the client wrote it. */
	readonly id: string;
	/** Its id as the server knows it: another one in each round of input. */
	readonly told: string;
	readonly method: string;
	readonly params: JsonObject;
	readonly round: number;
	readonly origin: Origin;
};

/** As often as a server may say that it needs more. */
const MAX_ROUNDS = 10;
/** Questions to the client that may be open at a time; the oldest is forgotten for the next. */
const MAX_QUESTIONS = 65_536;

/** A call on hold while its client is asked. */
type Round = {
	readonly call: Call;
	readonly state: unknown;
	/** Names of what is asked, by the keys of the requests to the client. */
	readonly open: Map<string, {readonly name: string; readonly method: string}>;
	readonly responses: {[name: string]: unknown};
};

/** Asks a handshake client for what a modern server needs, and the server again when all is there. */
export class InputRounds {
	readonly #session: Session;
	readonly #out: Outlets;
	readonly #retry: (call: Call) => void;
	readonly #rounds = new BoundedMap<string, Round>(MAX_QUESTIONS);

	constructor(session: Session, out: Outlets, retry: (call: Call) => void) {
		this.#session = session;
		this.#out = out;
		this.#retry = retry;
	}

	/** The server needs input: all questions are put at once. */
	begin(call: Call, {inputRequests, requestState}: JsonObject): void {
		if (call.round >= MAX_ROUNDS) {
			this.#fail(call, `The server asked for input more than ${MAX_ROUNDS} times.`);
			return;
		}
		const round: Round = {call, state: requestState, open: new Map(), responses: {}};
		const requests = Object.entries(objectOf(inputRequests)).map(([name, request]) => {
			const {method, params} = objectOf(request);
			const id = this.#session.ownId();
			round.open.set(JSON.stringify(id), {name, method: String(method)});
			return {jsonrpc: '2.0', id, method, params: inputParams(params, id)};
		});
		for (const key of round.open.keys()) this.#rounds.set(key, round);
		if (requests.length === 0) this.#again(round);
		for (const request of requests) this.#out.toClient(Envelope.of(request, call.origin));
	}

	/** The client has answered one. */
	answered({body, head: {key = ''}}: Envelope): void {
		const round = this.#rounds.take(key);
		const question = round?.open.get(key);
		if (!round || !question) return;
		round.open.delete(key);
		if (body.error !== undefined) {
			this.#giveUp(round, question.method, objectOf(body.error));
			return;
		}
		round.responses[question.name] = without(objectOf(body.result), '_meta');
		if (round.open.size === 0) this.#again(round);
	}

	#again({call, state, responses}: Round): void {
		const round = call.round + 1;
		const told = JSON.stringify(`${idWord(call.id)}.r${round}`);
		const params = {
			...without(call.params, 'inputResponses', 'requestState'),
			...(Object.keys(responses).length > 0 ? {inputResponses: responses} : {}),
			...(state === undefined ? {} : {requestState: state}),
		};
		this.#retry({...call, told, params, round});
	}

	/** One question without an answer is enough to end the call. */
	#giveUp(round: Round, method: string, {code, message}: JsonObject): void {
		this.#withdraw(round);
		const isUnable = code === -32601 || code === -32602;
		const reason = isUnable
			? `needs input that this client cannot give: ${method} (protocol ${this.#session.client}).`
			: `needs input that this client did not give: ${method} (${message}).`;
		this.#fail(round.call, `The ${round.call.method === 'tools/call' ? 'tool' : 'server'} ${reason}`);
	}

	/** A model reads what is wrong with a tool; elsewhere there is nothing but the error. */
	#fail({id, method, origin}: Call, text: string): void {
		const result = {isError: true, content: [{type: 'text', text}]};
		const answer =
			method === 'tools/call'
				? Envelope.answer(id, 'result', result, origin)
				: Envelope.answer(id, 'error', {code: -32603, message: text}, origin);
		this.#out.toClient(answer);
	}

	/** Whether a call that the client gives up is on hold here: it is over then, for the server has nothing to stop. */
	cancel(id: string): boolean {
		const round = [...this.#rounds.values()].find(({call}) => call.id === id);
		if (round) this.#withdraw(round);
		return round !== undefined;
	}

	#withdraw({open}: Round): void {
		for (const key of open.keys()) {
			this.#rounds.delete(key);
			const params = {requestId: JSON.parse(key), reason: 'no longer needed'};
			this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		}
	}
}
