import type {Envelope} from '../core/envelope.js';
import type {BridgeError} from '../core/errors.js';
import type {Log} from '../core/log.js';
import type {Emit, Endpoint} from '../core/stage.js';
import type {JsonObject} from '../util/json.js';
import type {StartQueue} from './start-queue.js';

export type RestartOptions = {
	readonly name: string;
	readonly log: Log;
	/** Opens a new connection, or starts the process. */
	readonly open: () => Endpoint;
	/** Limits how fast processes are started. */
	readonly starts?: StartQueue;
	/** Returns an id for a request that bridge sends itself. */
	readonly ownId: () => string;
	/** Called after a re-initialization, with its result and the duration of the restart. */
	readonly onReinitialized: (result: JsonObject, durationMs: number) => void;
	/** Translates a queued message again, since the upstream may speak another version after the restart. */
	readonly retranslate?: (envelope: Envelope, reply: Emit) => Envelope | undefined;
	/** Called on a disconnect. If it is not retried, the next request restarts the upstream. */
	readonly onDisconnect: (error: BridgeError, isRetried: boolean) => void;
	/** Whether bridge is shutting down. Nothing is started then. */
	readonly isDraining?: (() => boolean) | undefined;
	/** Timeout of a re-initialization; 0 for none. */
	readonly handshakeMs?: number | undefined;
};
