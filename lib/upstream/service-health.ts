import type {BridgeError} from '../core/errors.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {JsonObject} from '../util/json.js';

/** What has been seen of a service, for people. */
export type ServiceHealth = {
	toolCount: number | undefined;
	restarts: number;
	/** Whether it could not be reached when it was last tried. */
	isFailed: boolean;
	lastError: string | undefined;
};

/** Told of what becomes of the server in one conversation. */
export type UpstreamObserver = {
	/** It is gone, for this reason. It is restarted or reconnected to, or else with the next request only. */
	readonly onDisconnected: (reason: BridgeError, isRetried: boolean) => void;
	/** It is back. */
	readonly onReconnected: (result: JsonObject) => void;
	/** It had lost the session, and has begun another one. */
	readonly onReinitialized: (result: JsonObject) => void;
};

/** Reports that a server of several clients speaks another version since its restart. */
export const reportReinitialized =
	(negotiation: Negotiation, observer: UpstreamObserver | undefined) =>
	(result: JsonObject, durationMs: number): void => {
		negotiation.reinitialized(result, durationMs);
		observer?.onReinitialized(result);
	};
