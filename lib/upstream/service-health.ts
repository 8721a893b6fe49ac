import type {BridgeError} from '../core/errors.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {JsonObject} from '../util/json.js';

export type ServiceHealth = {
	toolCount: number | undefined;
	restarts: number;
	/** Whether the last connection attempt failed. */
	isFailed: boolean;
	lastError: string | undefined;
};

/** Receives the connection events of the upstream in one conversation. */
export type UpstreamObserver = {
	/** The connection was lost. If it is not retried, the next request restores it. */
	readonly onDisconnected: (reason: BridgeError, isRetried: boolean) => void;
	readonly onReconnected: (result: JsonObject) => void;
	/** The upstream had lost the session and was re-initialized. */
	readonly onReinitialized: (result: JsonObject) => void;
};

/** Returns a callback that records the re-initialization of a shared upstream. */
export const reportReinitialized =
	(negotiation: Negotiation, observer: UpstreamObserver | undefined) =>
	(result: JsonObject, durationMs: number): void => {
		negotiation.reinitialized(result, durationMs);
		observer?.onReinitialized(result);
	};
