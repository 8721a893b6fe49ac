import type {ServerResponse} from 'node:http';
import type {Envelope, Headers} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import type {UpstreamControl} from '../../core/upstream-control.js';
import type {Version} from '../../protocol/version.js';
import type {ReplicatedStreams} from './replicated-streams.js';
import type {StreamDelay} from './slow-replies.js';

/** What a client's session over HTTP is made with. */
export type HttpSessionOptions = {
	readonly name: string;
	readonly log: Log;
	/** The id that the client is to know the session by, told with this answer, if that is there by then. */
	readonly id: (response: Envelope | undefined) => string;
	/** The number before that of its first stream, where others number streams of the same session. */
	readonly streamsBefore?: number | undefined;
	/** Where events are kept for other replicas, and theirs for this one. */
	readonly shared?: ReplicatedStreams | undefined;
	/** What is known of the server's own stream, where other replicas may go on with it. */
	readonly upstream?: Pick<UpstreamControl, 'heard'> | undefined;
	/** The client listens, or does so no more. */
	readonly onListening?: ((isListening: boolean) => void) | undefined;
	/** What the client speaks, once that is known. */
	readonly version: () => Version | undefined;
	/** The id of a client's request that the upstream knows by this key. */
	readonly requestIdOf: (key: string) => string | undefined;
	/** The client has been told that its session is gone. */
	readonly onSessionRejected?: () => void;
	/** The client has no session id: the response that begins it could not be delivered. */
	readonly onUndelivered?: () => void;
	/** How long a client may wait for its answer without a sign of life; without it, as long as it takes. */
	readonly streamDelayMs?: StreamDelay;
	readonly keepAliveMs?: number;
};

/** One POST. */
export type HttpPost = {
	/** The message, of which no more is known than its head. */
	readonly envelope: Envelope;
	readonly headers: Headers;
	readonly accepts: {readonly json: boolean; readonly events: boolean};
	readonly response: ServerResponse;
};
