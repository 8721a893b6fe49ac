import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {type Log, logBug} from '../core/log.js';
import {didYouMean} from '../util/did-you-mean.js';
import type {JsonObject} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import type {HubUpstream} from './hub-upstream.js';

/** A JSON-RPC error to respond with. */
export class RpcError extends Error {
	override readonly name = 'RpcError';
	readonly code: number;

	constructor(code: number, message: string) {
		super(message);
		this.code = code;
	}
}

type ComputeResult = (signal: AbortSignal) => Promise<string>;

/** The upstream of a request, and the request as it is sent there. */
type UpstreamRoute = {
	readonly upstream: HubUpstream;
	readonly request: Envelope;
	readonly onResponse?: (response: Envelope) => void;
};

/** The pending requests of the hub's client. Each gets one response, unless it is cancelled. */
export class PendingClientRequests {
	readonly #send: (envelope: Envelope) => void;
	readonly #log: Log;
	/** Aborts each request, by its key. The limit of the client's pending requests bounds the map. */
	readonly #pending = new Map<string, (reason: string) => void>();

	constructor(send: (envelope: Envelope) => void, log: Log) {
		this.#send = send;
		this.#log = log;
	}

	respondAsync({head: {id = 'null', key = ''}, origin}: Envelope, compute: ComputeResult): void {
		const controller = new AbortController();
		this.#pending.set(key, reason => controller.abort(new DOMException(reason, 'AbortError')));
		compute(controller.signal).then(
			result => this.#respond(key, controller, () => resultEnvelope(id, result, origin)),
			error => this.#respond(key, controller, () => this.errorResponse(id, error, origin)),
		);
	}

	/** Forwards a request to the upstream that `findRoute` resolves to, and its response to the client. */
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
			// Drops the HTTP status of the upstream: the client has one HTTP connection for all upstreams.
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

	cancel(cancellation: Envelope): void {
		const id = memberText(cancellation.bytes, 'params', 'requestId');
		const key = id === undefined ? '' : canonicalId(id);
		const abort = this.#pending.get(key);
		this.#pending.delete(key);
		abort?.('the client cancelled the request');
	}

	/** Aborts all requests after the client has disconnected. */
	close(): void {
		const all = [...this.#pending.values()];
		this.#pending.clear();
		for (const abort of all) abort('the client disconnected');
	}

	errorResponse(id: string, error: unknown, origin: MessageOrigin): Envelope {
		if (error instanceof BridgeError) return Envelope.errorResponse(id, error, origin);
		if (!(error instanceof RpcError)) logBug(this.#log, error);
		const rpc: JsonObject =
			error instanceof RpcError
				? {code: error.code, message: error.message}
				: {code: -32603, message: 'Internal error: see the log of bridge'};
		return Envelope.response(id, 'error', rpc, origin);
	}

	#respond(key: string, {signal}: AbortController, makeResponse: () => Envelope): void {
		if (signal.aborted) return;
		this.#pending.delete(key);
		this.#send(makeResponse());
	}
}

function resultEnvelope(id: string, result: string, origin: MessageOrigin): Envelope {
	const envelope = Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"result":${result}}`, origin);
	envelope.isFinalResponse = true;
	return envelope;
}

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
	new BridgeError('ERR_REQUEST_CANCELLED', `The request was cancelled: ${reason}.`, 'Send it again.');

/** The maximum length of a name in an error message. */
const MAX_SHOWN_LENGTH = 200;

export const unknownItemMessage = (kind: string, name: string, names: readonly string[]): string =>
	`Unknown ${kind}: ${name.slice(0, MAX_SHOWN_LENGTH)}. ${didYouMean(name, names)}`.trim();
