import {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {PendingRequest, PendingRequests} from '../core/requests/pending.js';
import {type Stage, stage} from '../core/stage.js';
import {timeoutRemedy} from '../core/timeout-remedy.js';

type TimeLimitOptions = {
	readonly timeoutMs: number;
	readonly upstream: string;
	/** The pending requests, maintained by `matchResponses`. */
	readonly pending: PendingRequests;
	/** Methods with a time limit elsewhere. */
	readonly exempt?: readonly string[];
	/** Whether pending requests were sent to the upstream already. */
	readonly negotiation?: {
		readonly isReady: boolean;
		readonly hasQueued?: (id: string) => boolean;
		readonly options?: {readonly isHub?: boolean};
	};
	/** The flag or config key of this limit, for the error message. */
	readonly setting?: string | undefined;
};

/** Exempt, because its response comes at the end of the stream. */
const LISTEN_METHOD = 'subscriptions/listen';

/**
 * Fails a request that gets no response in time, and cancels it upstream.
 *
 * All requests have the same limit, so the oldest always expires first, and one timer is enough.
 */
export function timeLimit(options: TimeLimitOptions): Stage {
	const {timeoutMs, pending, negotiation, exempt = []} = options;
	if (timeoutMs === 0) return {};
	let timer: NodeJS.Timeout | undefined;
	const stop = (): void => {
		clearTimeout(timer);
		timer = undefined;
	};
	const isHub = negotiation?.options?.isHub === true;
	const isExempt = (method: string): boolean =>
		method === LISTEN_METHOD || (isHub && method === 'initialize') || exempt.includes(method);
	return stage(out => {
		const expire = ({upstreamId, method, origin}: PendingRequest): void => {
			const isReady = negotiation?.isReady !== false && negotiation?.hasQueued?.(upstreamId) !== true;
			// The stage or endpoint that has queued the request drops it together with the cancellation.
			if (isCancellable(method)) out.toUpstream(cancellation(upstreamId, timeoutMs));
			const isSent = !isCancellable(method) || isReady;
			const error = isSent ? tooSlow(options, method) : notReady(options, method);
			out.toClient(Envelope.errorResponse(upstreamId, error, origin));
		};
		const arm = (ms: number): void => {
			// Reads responses first that arrived while the event loop was blocked.
			timer = setTimeout(() => setImmediate(check), Math.max(1, ms)).unref();
		};
		const check = (): void => {
			if (!timer) return;
			timer = undefined;
			for (const [request, waitedMs] of pending.byAge()) {
				if (isExempt(request.method)) continue;
				if (waitedMs < timeoutMs) {
					arm(timeoutMs - waitedMs);
					return;
				}
				expire(request);
			}
		};
		return {
			toUpstream(envelope) {
				const {key, method} = envelope.head;
				if (!timer && key !== undefined && method !== undefined) arm(timeoutMs);
				return envelope;
			},
			upstreamClosed: stop,
			teardown: stop,
		};
	});
}

const cancellation = (id: string, timeoutMs: number): Envelope =>
	Envelope.fromText(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"no response within ${timeoutMs / 1000} s"}}`,
	);

/** The protocol forbids cancelling `initialize`. */
const isCancellable = (method: string): boolean => method !== 'initialize';

const tooSlow = ({upstream, timeoutMs, setting}: TimeLimitOptions, method: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${upstream} did not respond to ${method} within ${timeoutMs / 1000} s${isCancellable(method) ? '. The request was cancelled' : ''}.`,
		timeoutRemedy('Check what it is doing', setting),
		{timeoutMs, method},
	);

const notReady = ({upstream, timeoutMs, setting}: TimeLimitOptions, method: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${upstream} was not ready for ${method} within ${timeoutMs / 1000} s. The request was never sent.`,
		timeoutRemedy('Check why its handshake takes so long', setting),
		{timeoutMs, method},
	);
