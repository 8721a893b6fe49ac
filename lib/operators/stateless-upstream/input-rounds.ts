import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import type {PendingCall} from '../../core/requests/call-table.js';
import type {StageOutputs} from '../../core/stage.js';
import type {Negotiation} from '../../protocol/negotiation.js';
import {restoreOriginalsAt, toServerRequestParams} from '../../protocol/v2026-07-28.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, objectOf, toText, without} from '../../util/json.js';
import {ExactNumbers} from '../../wire/exact-numbers.js';
import {unquotedId} from '../../wire/id.js';
import {serverRequestCapabilities} from '../stateless-client/client-call.js';

/** A request of a handshake client that is pending at a stateless upstream. */
export type HandshakeCall = PendingCall & {
	/** The unparsed request, because parsed JSON takes far more memory; undefined for a cancelled call. */
	readonly line: Buffer | undefined;
	readonly origin: MessageOrigin;
	/** The name of the tool, for tools/call. */
	readonly tool: string | undefined;
	readonly id: string;
	/** The id upstream, which differs in each round. */
	readonly upstreamId: string;
	readonly method: string;
	readonly round: number;
};

export type RetryCall = (call: HandshakeCall, params: JsonObject, exact: ExactNumbers) => void;

const MAX_ROUNDS = 10;
const MAX_INPUTS = 100;
/** Pending requests to the client. The oldest is evicted for the next. */
const MAX_PENDING_INPUTS = 65_536;

type InputRound = {
	readonly call: HandshakeCall;
	readonly state: unknown;
	/** Input names and methods, by the key of the request to the client. */
	readonly pending: Map<string, {readonly name: string; readonly method: string}>;
	readonly responses: Map<string, unknown>;
	/** Preserves the notation of numbers in the request and in all responses. */
	readonly exact: ExactNumbers;
};

/** Requests the input for a stateless upstream from a handshake client, and retries the call with it. */
export class InputRounds {
	readonly #negotiation: Negotiation;
	readonly #out: StageOutputs;
	readonly #retry: RetryCall;
	readonly #rounds = new BoundedMap<string, InputRound>(MAX_PENDING_INPUTS);

	constructor(negotiation: Negotiation, out: StageOutputs, retry: RetryCall) {
		this.#negotiation = negotiation;
		this.#out = out;
		this.#retry = retry;
	}

	/** Starts a round: sends all input requests to the client at once. */
	begin(call: HandshakeCall, response: Envelope): void {
		if (call.line === undefined) {
			this.#fail(call, 'The server requested input for a request that was cancelled.');
			return;
		}
		if (call.round >= MAX_ROUNDS) {
			this.#fail(call, `The server requested input more than ${MAX_ROUNDS} times.`);
			return;
		}
		const exact = new ExactNumbers();
		const {result} = objectOf(exact.parse(response.line.toString()));
		const {inputRequests, requestState: state} = restoreOriginalsAt('/inputRequests', objectOf(result));
		const round: InputRound = {
			call,
			state,
			pending: new Map(),
			responses: new Map(),
			exact: new ExactNumbers(),
		};
		const requests = Object.entries(objectOf(inputRequests));
		if (requests.length > MAX_INPUTS) {
			this.#fail(call, `The server requested ${requests.length} inputs at once; the limit is ${MAX_INPUTS}.`);
			return;
		}
		const unsupported = requests.find(
			([, request]) => !serverRequestCapabilities.has(String(objectOf(request).method)),
		);
		if (unsupported) {
			this.#fail(call, `The server requested input of an unsupported kind: ${unsupported[0]}.`);
			return;
		}
		const serverRequests = requests.map(([name, request]) => {
			const {method, params} = objectOf(request);
			const id = this.#negotiation.nextRequestId();
			round.pending.set(JSON.stringify(id), {name, method: toText(method)});
			return exact.stringify({
				jsonrpc: '2.0',
				id,
				method: toText(method),
				params: toServerRequestParams(method, params, id),
			});
		});
		for (const key of round.pending.keys()) this.#rounds.set(key, round);
		if (serverRequests.length === 0) this.#retryCall(round);
		// A request that fails at once ends the round, so that the rest is not sent.
		for (const [at, key] of [...round.pending.keys()].entries())
			if (this.#rounds.has(key)) this.#out.toClient(Envelope.fromText(serverRequests[at] ?? '', call.origin));
	}

	/** Stores the client's response to an input request, and retries the call after the last one. */
	handleResponse(envelope: Envelope): void {
		const {key = '', hasError} = envelope.head;
		const round = this.#rounds.take(key);
		const input = round?.pending.get(key);
		if (!round || !input) return;
		round.pending.delete(key);
		if (hasError) {
			this.#failRound(round, input.method, objectOf(envelope.body.error));
			return;
		}
		const {result} = objectOf(round.exact.parse(envelope.line.toString()));
		round.responses.set(input.name, without(objectOf(result), '_meta'));
		if (round.pending.size === 0) this.#retryCall(round);
	}

	#retryCall({call, state, responses, exact}: InputRound): void {
		const {params} = objectOf(exact.parse(call.line?.toString() ?? '{}'));
		const round = call.round + 1;
		const upstreamId = JSON.stringify(`${unquotedId(call.id)}.r${round}`);
		const nextParams = {
			...without(objectOf(params), 'inputResponses', 'requestState'),
			...(responses.size > 0 ? {inputResponses: Object.fromEntries(responses)} : {}),
			...(state === undefined ? {} : {requestState: state}),
		};
		this.#retry({...call, upstreamId, upstreamKey: upstreamId, round}, nextParams, exact);
	}

	/** Fails the call because the client rejected one input request. */
	#failRound(round: InputRound, method: string, {code, message}: JsonObject): void {
		this.#cancelInputs(round);
		const isUnable = code === -32601 || code === -32602;
		const reason = isUnable
			? `needs input that this client cannot give: ${method} (protocol ${this.#negotiation.clientVersion}).`
			: `needs input that this client did not give: ${method} (${toText(message)}).`;
		this.#fail(round.call, `The ${round.call.method === 'tools/call' ? 'tool' : 'server'} ${reason}`);
	}

	/** Fails a call: a tool call with a result that the model can read, others with an error. */
	#fail({id, method, origin}: HandshakeCall, text: string): void {
		const result = {isError: true, content: [{type: 'text', text}]};
		const response =
			method === 'tools/call'
				? Envelope.response(id, 'result', result, origin)
				: Envelope.response(id, 'error', {code: -32603, message: text}, origin);
		this.#out.toClient(response);
	}

	/** Ends the round of a cancelled call. Returns whether there was one: then nothing is pending upstream. */
	cancel(key: string): boolean {
		for (const round of this.#rounds.values())
			if (round.call.key === key) {
				this.#cancelInputs(round);
				return true;
			}
		return false;
	}

	#cancelInputs({pending}: InputRound): void {
		for (const key of pending.keys()) {
			this.#rounds.delete(key);
			const params = {requestId: JSON.parse(key), reason: 'no longer needed'};
			this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		}
		pending.clear();
	}
}
