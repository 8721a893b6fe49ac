import type {ServerResponse} from 'node:http';
import type {Envelope, Headers} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import type {UpstreamControl} from '../../core/upstream-control.js';
import type {Version} from '../../protocol/version.js';
import type {ReplicatedStreams} from './replicated-streams.js';
import type {StreamDelay} from './slow-replies.js';

export type HttpSessionOptions = {
	readonly name: string;
	readonly log: Log;
	/**
	 * Returns the session id for the client. `response` is that to `initialize`, if it is available already.
	 */
	readonly id: (response: Envelope | undefined) => string;
	/** Offset of the stream numbers, so that those of several replicas do not collide. */
	readonly streamsBefore?: number | undefined;
	/** The event store that all replicas share. */
	readonly shared?: ReplicatedStreams | undefined;
	/** The position in the upstream's GET stream, from which another replica can resume it. */
	readonly upstream?: Pick<UpstreamControl, 'heard'> | undefined;
	/** Called with whether the client has an open GET stream. */
	readonly onListening?: ((isListening: boolean) => void) | undefined;
	/** The protocol version of the client, once it is negotiated. */
	readonly version: () => Version | undefined;
	/** Maps the key of a request at the upstream to the client's id of that request. */
	readonly requestIdOf: (key: string) => string | undefined;
	/** Called after the upstream rejected `initialize`, or any request with HTTP status 404. */
	readonly onSessionRejected?: () => void;
	/**
	 * Called when the response to `initialize` could not be delivered, so that the client has no session id.
	 */
	readonly onUndelivered?: () => void;
	/** The delay before a reply without a response becomes an event stream [unlimited]. */
	readonly streamDelayMs?: StreamDelay;
	readonly keepAliveMs?: number;
};

export type HttpPost = {
	/** The message, of which only the head is parsed. */
	readonly envelope: Envelope;
	readonly headers: Headers;
	readonly accepts: {readonly json: boolean; readonly events: boolean};
	readonly response: ServerResponse;
};
