import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Stage, stage} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';

type Deadline = {readonly id: string; readonly method: string; readonly origin: Origin; readonly at: number};

export type TimeLimitOptions = {
	readonly timeoutMs: number;
	readonly upstream: string;
	/** Monotonic, in milliseconds: the clock on the wall may be set while a request waits. */
	readonly now?: () => number;
};

/**
 * Answers a request with an error when the upstream has not in time, and tells the upstream to stop.
 *
 * All requests have the same time, so the oldest is always the next to run out, and one timer does for all.
 */
export function timeLimit({timeoutMs, upstream, now = () => performance.now()}: TimeLimitOptions): Stage {
	if (timeoutMs === 0) return {};
	const deadlines = new Map<string, Deadline>();
	let timer: NodeJS.Timeout | undefined;
	const stop = (): void => {
		clearTimeout(timer);
		timer = undefined;
		deadlines.clear();
	};
	return stage(out => {
		const expire = ({id, method, origin}: Deadline): void => {
			if (mayBeCancelled(method)) out.toUpstream(cancelled(id, timeoutMs));
			out.toClient(Envelope.failure(id, tooSlow(upstream, method, timeoutMs), origin));
		};
		const check = (): void => {
			if (!timer) return;
			timer = undefined;
			for (const [key, deadline] of deadlines) {
				if (deadline.at > now()) break;
				deadlines.delete(key);
				expire(deadline);
			}
			arm();
		};
		const arm = (): void => {
			const next = deadlines.values().next().value;
			// Answers that have come while this process was kept from running are read first.
			if (next && !timer) timer = setTimeout(() => setImmediate(check), Math.max(1, next.at - now())).unref();
		};
		return {
			toUpstream(envelope) {
				const {id, key, method} = envelope.head;
				if (id === undefined || key === undefined || method === undefined) {
					if (method === 'notifications/cancelled') forget(deadlines, envelope);
					return envelope;
				}
				deadlines.set(key, {id, method, origin: envelope.origin, at: now() + timeoutMs});
				if (!timer) arm();
				return envelope;
			},
			toClient(envelope) {
				const {key, method} = envelope.head;
				if (key !== undefined && method === undefined) deadlines.delete(key);
				return envelope;
			},
			upstreamGone: stop,
			stopped: stop,
		};
	});
}

/** The client gave a request up: nobody is to be told that it took too long. */
function forget(deadlines: Map<string, Deadline>, {bytes}: Envelope): void {
	const id = memberText(bytes, 'params', 'requestId');
	if (id !== undefined) deadlines.delete(canonicalId(id));
}

const cancelled = (id: string, timeoutMs: number): Envelope =>
	Envelope.fromText(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"no answer within ${timeoutMs / 1000} s"}}`,
	);

/** A server is not to be told that its initialize is cancelled. */
const mayBeCancelled = (method: string): boolean => method !== 'initialize';

const tooSlow = (upstream: string, method: string, timeoutMs: number): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${upstream} did not answer ${method} within ${timeoutMs / 1000} s${mayBeCancelled(method) ? ', and was told to stop' : ''}.`,
		'See what it is doing, or allow more time with --timeout SECONDS (0 for no limit).',
		{timeoutMs, method},
	);
