import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {type Log, logBug} from '../core/log.js';
import {didYouMean} from '../util/did-you-mean.js';
import type {JsonObject} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import type {HubUpstream} from './hub-upstream.js';

/** Why a request is refused, as JSON-RPC has it. */
export class RpcError extends Error {
	override readonly name = 'RpcError';
	readonly code: number;

	constructor(code: number, message: string) {
		super(message);
		this.code = code;
	}
}

/** Does what a request asks for. Gives its result as JSON text. */
type ComputeResult = (signal: AbortSignal) => Promise<string>;

/** Where a request goes, as its server is to hear it. */
type UpstreamRoute = {
	readonly upstream: HubUpstream;
	readonly request: Envelope;
	/** Told of the answer, before the client is. */
	readonly onResponse?: (answer: Envelope) => void;
};

/** The requests of the hub's client that are under way: each is answered once, unless it is given up. */
export class PendingClientRequests {
	readonly #send: (envelope: Envelope) => void;
	readonly #log: Log;
	/** What gives each of them up, by its key. There are no more than the client may wait for. */
	readonly #pending = new Map<string, (reason: string) => void>();

	constructor(send: (envelope: Envelope) => void, log: Log) {
		this.#send = send;
		this.#log = log;
	}

	/** Answers a request by work that takes time. */
	respondAsync({head: {id = 'null', key = ''}, origin}: Envelope, compute: ComputeResult): void {
		const controller = new AbortController();
		this.#pending.set(key, reason => controller.abort(new DOMException(reason, 'AbortError')));
		compute(controller.signal).then(
			result => this.#respond(key, controller, () => resultEnvelope(id, result, origin)),
			error => this.#respond(key, controller, () => this.errorResponse(id, error, origin)),
		);
	}

	/** Passes a request on to the server that `find` finds, which may take time, and what that answers back. */
	forward(
		{head: {id = 'null', key = ''}, origin}: Envelope,
		findRoute: (signal: AbortSignal) => Promise<UpstreamRoute>,
	): void {
		const controller = new AbortController();
		this.#pending.set(key, reason => controller.abort(new DOMException(reason, 'AbortError')));
		findRoute(controller.signal).then(
			route => {
				if (!controller.signal.aborted) this.#forwardTo(route);
			},
			error => this.#respond(key, controller, () => this.errorResponse(id, error, origin)),
		);
	}

	#forwardTo({request, upstream, onResponse}: UpstreamRoute): void {
		const {head, origin} = request;
		const {id = 'null', key = ''} = head;
		const {rpc} = upstream;
		const respond = (response: Envelope): void => {
			this.#pending.delete(key);
			onResponse?.(response);
			// What a server refuses by an HTTP status is nothing to the client of all of them.
			this.#send(response.forwardedAs({name: response.origin.name, valve: response.origin.valve}, id));
		};
		if (!rpc || upstream.state !== 'connected') {
			respond(Envelope.errorResponse(id, upstreamUnavailable(upstream), origin));
			return;
		}
		this.#pending.set(key, reason => {
			rpc.cancel(upstreamId, reason);
			onResponse?.(Envelope.errorResponse(id, cancelledError(reason)));
		});
		const upstreamId = rpc.sendRequest(request, respond, id);
	}

	/** The client gives a request up. */
	cancel(cancellation: Envelope): void {
		const id = memberText(cancellation.bytes, 'params', 'requestId');
		const key = id === undefined ? '' : canonicalId(id);
		const abort = this.#pending.get(key);
		this.#pending.delete(key);
		abort?.('the client gave it up');
	}

	/** The client is gone. */
	close(): void {
		const all = [...this.#pending.values()];
		this.#pending.clear();
		for (const abort of all) abort('the client has left');
	}

	/** The answer to a request that failed. */
	errorResponse(id: string, error: unknown, origin: MessageOrigin): Envelope {
		if (error instanceof BridgeError) return Envelope.errorResponse(id, error, origin);
		if (!(error instanceof RpcError)) logBug(this.#log, error);
		const rpc: JsonObject =
			error instanceof RpcError
				? {code: error.code, message: error.message}
				: {code: -32603, message: 'Internal error: the log of bridge says more'};
		return Envelope.response(id, 'error', rpc, origin);
	}

	#respond(key: string, {signal}: AbortController, makeResponse: () => Envelope): void {
		if (signal.aborted) return;
		this.#pending.delete(key);
		this.#send(makeResponse());
	}
}

/** An answer with a result that is written already. */
function resultEnvelope(id: string, result: string, origin: MessageOrigin): Envelope {
	const envelope = Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"result":${result}}`, origin);
	envelope.isFinalResponse = true;
	return envelope;
}

/** Why nothing can be asked of a server now. */
export const upstreamUnavailable = ({name, state, reason}: HubUpstream): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		state === 'connecting'
			? `Server '${name}' is still connecting.`
			: `Server '${name}' unavailable: ${state === 'disabled' ? 'it is disabled (enabled: false)' : reason}`.replace(
					/([^.!?…])$/,
					'$1.',
				),
		state === 'disabled' ? 'Enable it in the configuration.' : 'bridge keeps trying to connect.',
		{server: name},
	);

const cancelledError = (reason: string): BridgeError =>
	new BridgeError('ERR_REQUEST_CANCELLED', `It was cancelled: ${reason}.`, 'Ask again.');

/** Characters of a name that are shown. */
const MAX_SHOWN_LENGTH = 200;

/** What is said of a name that nothing has. */
export const unknownItemMessage = (kind: string, name: string, names: readonly string[]): string =>
	`Unknown ${kind}: ${name.slice(0, MAX_SHOWN_LENGTH)}. ${didYouMean(name, names)}`.trim();
