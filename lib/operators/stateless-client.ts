import {cancellationFor, editMessage} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {CallTable, cancelledRequestId} from '../core/requests/call-table.js';
import type {PendingRequests} from '../core/requests/pending.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import {warnRateLimited} from '../core/warn-rate-limited.js';
import {logLoss} from '../protocol/connection-log.js';
import {isAtLeast} from '../protocol/log-levels.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {toStatelessTools} from '../protocol/stateless-output.js';
import {
	haveUnsupportedValues,
	requestMetaError,
	toDiscoverResult,
	toStatelessError,
	toStatelessResult,
	UNSUPPORTED_VALUES,
	withoutRequestMeta,
} from '../protocol/v2026-07-28.js';
import {STATELESS} from '../protocol/version.js';
import {type JsonObject, objectOf} from '../util/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {canonicalId} from '../wire/id.js';
import {
	abandonCall,
	addServerRequest,
	callProgressToken,
	callSize,
	cancelServerRequest,
	createCall,
	inputRequiredResponse,
	latestCallWith,
	type RequiredInput,
	requiredInputOf,
	type StatelessCall,
	serverRequestCapabilities,
	toClientProgress,
	urlElicitationsOf,
} from './stateless-client/client-call.js';
import {NotificationStreams} from './stateless-client/listeners.js';
import {ParkedCalls, unknownRequestState} from './stateless-client/parked-calls.js';
import {ServerLogLevel} from './stateless-client/server-log-level.js';

type StatelessClientOptions = {
	readonly negotiation: Negotiation;
	readonly log: Log;
	readonly pending: PendingRequests;
};

/** Makes a stateless client look like an initialized client of 2025-11-25. */
export function statelessClient(options: StatelessClientOptions): Stage {
	return stage(out => new StatelessClientStage(options, out));
}

class StatelessClientStage implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #out: StageOutputs;
	readonly #listeners: NotificationStreams;
	readonly #calls = new CallTable<StatelessCall>();
	readonly #parked: ParkedCalls<StatelessCall>;
	readonly #logLevel: ServerLogLevel;

	constructor({negotiation, log, pending}: StatelessClientOptions, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#log = log;
		this.#out = out;
		this.#listeners = new NotificationStreams(negotiation, pending, out);
		this.#logLevel = new ServerLogLevel(negotiation, out);
		const {newState} = negotiation.options;
		this.#parked = new ParkedCalls({sizeOf: callSize, newState, onEvicted: call => this.#evicted(call)});
	}

	get #isActive(): boolean {
		return this.#negotiation.clientVersion === STATELESS && this.#negotiation.upstreamVersion !== STATELESS;
	}

	readonly toUpstream = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (!this.#isActive || method === undefined) return envelope;
		if (id !== undefined)
			return method === 'initialize' ? envelope : this.#request(envelope, id, method, reply);
		return method === 'notifications/cancelled' ? this.#handleCancelled(envelope) : envelope;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {id, key, method} = envelope.head;
		if (!this.#isActive) return envelope;
		if (method === undefined) return key === undefined ? envelope : this.#handleResponse(envelope, key);
		return id === undefined
			? this.#handleNotification(envelope, method)
			: this.#handleServerRequest(envelope, id, method);
	};

	readonly teardown = (): void => this.#listeners.stop();

	#request(envelope: Envelope, id: string, method: string, reply: Emit): Envelope | undefined {
		const params = objectOf(envelope.body.params);
		const error = requestMetaError(params);
		const respond = (member: 'result' | 'error', value: JsonObject): undefined =>
			void reply(Envelope.response(id, member, value, envelope.origin));
		if (error) return respond('error', error);
		if (method === 'server/discover') return respond('result', this.#discoverResult());
		if (method === 'subscriptions/listen') return this.#listeners.open(envelope, respond);
		if (typeof params.requestState === 'string') {
			const call = this.#parked.take(params.requestState);
			if (!call) return respond('error', unknownRequestState);
			if (!call.isFinished) return this.#resume(call, id, envelope);
		}
		this.#logLevel.request(params);
		return this.#forward(envelope);
	}

	#discoverResult(): JsonObject {
		const {initializeResult = {}} = this.#negotiation;
		if (haveUnsupportedValues(initializeResult.capabilities))
			logLoss(this.#negotiation, this.#log, UNSUPPORTED_VALUES);
		return toDiscoverResult(initializeResult);
	}

	#forward(envelope: Envelope): Envelope {
		this.#calls.set(createCall(envelope));
		return editMessage(envelope, body => {
			const {inputResponses: _responses, requestState: _state, ...rest} = objectOf(body.params);
			return {...body, params: withoutRequestMeta(rest)};
		});
	}

	/** Sends the input of a retry as responses to server requests. The original call is still pending. */
	#resume(call: StatelessCall, id: string, retry: Envelope): undefined {
		const exact = new ExactNumbers();
		const {params} = objectOf(exact.parse(retry.line.toString()));
		const responses = objectOf(objectOf(params).inputResponses);
		call.id = id;
		this.#calls.rename(call, retry.head.key ?? '');
		call.token = callProgressToken(retry.bytes);
		call.isParked = false;
		for (const [name, serverRequest] of [...call.serverRequests]) {
			if (!Object.hasOwn(responses, name)) continue;
			call.serverRequests.delete(name);
			const write = (value: unknown): string => exact.stringify(value);
			this.#out.toUpstream(
				Envelope.response(serverRequest.id, 'result', responses[name], retry.origin, write),
			);
		}
		if (call.response) this.#finish(call, call.response);
		else if (call.serverRequests.size > 0 && !call.isParked) this.#park(call);
	}

	#park(call: StatelessCall): void {
		const input = requiredInputOf(call);
		if (input.removed.size > 0)
			logLoss(this.#negotiation, this.#log, 'null and fractions in sampling metadata');
		call.isParked = true;
		this.#requestInput(call, input, this.#parked.add(call));
	}

	#evicted(call: StatelessCall): void {
		warnRateLimited(
			this.#log,
			'client.call.forgotten',
			'A call that waits for input was evicted to free memory.',
		);
		if (abandonCall(call, this.#out)) this.#calls.cancel(call);
	}

	#requestInput(call: StatelessCall, input: RequiredInput, state: string): void {
		const {serverInfo} = this.#negotiation.initializeResult ?? {};
		this.#out.toClient(inputRequiredResponse(call, input, state, serverInfo));
	}

	#handleResponse(envelope: Envelope, key: string): Envelope | undefined {
		if (this.#logLevel.handleResponse(key) || this.#listeners.handleResponse(envelope, key)) return;
		const call = this.#calls.take(key);
		if (!call) return envelope;
		if (!call.isParked) return this.#finish(call, envelope);
		call.response = envelope;
		return this.#parked.trim();
	}

	/** Sends the response to the client, with the id of its latest retry. */
	#finish(call: StatelessCall, envelope: Envelope): undefined {
		const {serverInfo} = this.#negotiation.initializeResult ?? {};
		const {error} = envelope.body;
		if (objectOf(error).code === -32042) return this.#requireUrlElicitations(call, envelope);
		const translated = editMessage(envelope, body =>
			error === undefined
				? {...body, result: toStatelessResult(call.method, resultWithoutRemoved(body, call), serverInfo)}
				: {...body, error: toStatelessError(objectOf(body.error))},
		);
		this.#out.toClient(call.id === translated.head.id ? translated : translated.withId(call.id));
	}

	/** Translates the error for required URL elicitations to a result that requires input. */
	#requireUrlElicitations(call: StatelessCall, {body}: Envelope): undefined {
		const input = urlElicitationsOf(objectOf(body.error));
		if (input) this.#requestInput(call, input, this.#parked.add({...call, isFinished: true}));
		// Without URLs, nothing can be elicited, and stateless clients do not define this code.
		else this.#out.toClient(Envelope.response(call.id, 'error', {...objectOf(body.error), code: -32603}));
	}

	/** Parks a call for a server request, which can reach a stateless client only in the response to a call. */
	#handleServerRequest(envelope: Envelope, id: string, method: string): undefined {
		const reject = (message: string, code = -32601): undefined =>
			void this.#out.toUpstream(Envelope.response(id, 'error', {code, message}, envelope.origin));
		if (method === 'ping')
			return void this.#out.toUpstream(Envelope.response(id, 'result', {}, envelope.origin));
		const capability = serverRequestCapabilities.get(method);
		if (capability === undefined)
			return reject(`Method not found: ${method} (the client speaks ${STATELESS})`);
		const call = latestCallWith(capability, this.#calls.values());
		if (!call) return reject(`Method not found: no pending request can carry ${method} to the client`);
		if (!this.#parked.hasCapacity(call, call.serverRequests.size, envelope.size))
			return reject('Too many or too large requests wait for the client within one call', -32603);
		addServerRequest(call, envelope, id, method);
		if (call.isParked) this.#parked.trim();
		else this.#park(call);
	}

	#handleNotification(envelope: Envelope, method: string): Envelope | undefined {
		switch (method) {
			case 'notifications/message': {
				const {level} = objectOf(envelope.body.params);
				return [...this.#calls.values()].some(call => isAtLeast(level, call.logLevel)) ? envelope : undefined;
			}
			case 'notifications/progress':
				return toClientProgress(this.#calls.values(), envelope);
			case 'notifications/cancelled':
				return cancelServerRequest(this.#calls.values(), envelope);
			case 'notifications/tasks/status':
			case 'notifications/elicitation/complete':
				return;
			default:
				return this.#listeners.handles(method) ? this.#listeners.forward(envelope, method) : envelope;
		}
	}

	/** Cancels a request by the id of its latest retry. */
	#handleCancelled(envelope: Envelope): Envelope | undefined {
		const id = cancelledRequestId(envelope);
		if (id === undefined || this.#listeners.close(id)) return;
		const call = this.#calls.find(canonicalId(id));
		if (call) {
			call.isAbandoned = true;
			this.#calls.cancel(call);
		}
		const plain = editMessage(envelope, body => ({
			...body,
			params: withoutRequestMeta(objectOf(body.params)),
		}));
		return call ? cancellationFor(plain, call.upstreamId) : plain;
	}
}

/** A result without members that the stateless version has removed. */
const resultWithoutRemoved = ({result}: JsonObject, {method}: StatelessCall): JsonObject =>
	method === 'tools/list' ? toStatelessTools(objectOf(result)) : objectOf(result);
