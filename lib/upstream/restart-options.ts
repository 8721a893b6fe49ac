import type {Envelope} from '../core/envelope.js';
import type {BridgeError} from '../core/errors.js';
import type {Log} from '../core/log.js';
import type {Emit, Endpoint} from '../core/stage.js';
import type {JsonObject} from '../util/json.js';
import type {StartQueue} from './start-queue.js';

export type RestartOptions = {
	readonly name: string;
	readonly log: Log;
	/** Makes a new connection to the server, or starts it. */
	readonly open: () => Endpoint;
	/** The queue for starts of processes. */
	readonly starts?: StartQueue;
	/** An id for a request of bridge's own. */
	readonly ownId: () => string;
	/** The server is back, this is its response to a new handshake, and the connection took this long. */
	readonly onReinitialized: (result: JsonObject, durationMs: number) => void;
	/** What is said to the server when it is back, of what was meant for it before: it may speak another version by now. */
	readonly retranslate?: (envelope: Envelope, answer: Emit) => Envelope | undefined;
	/** The server is gone, for this reason. It is started again at once, or else with the next request only. */
	readonly onDisconnect: (error: BridgeError, isRetried: boolean) => void;
	/** Whether bridge is about to end, so that nothing is started any more. */
	readonly isDraining?: (() => boolean) | undefined;
	/** How long a server may take to respond to a new handshake; 0 for no limit. */
	readonly handshakeMs?: number | undefined;
};
