/** What bridge tells its own end of a connection, in the place of a message. None of it reaches a server. */
export const RESUMED_COMMAND = 'bridge/resumed';
export const LISTEN_COMMAND = 'bridge/listen';
export const STOP_LISTENING_COMMAND = 'bridge/quiet';
export type UpstreamCommand = typeof RESUMED_COMMAND | typeof LISTEN_COMMAND | typeof STOP_LISTENING_COMMAND;

/**
 * Sent by the end of a connection when an upstream named a session id in a response that has no message, and to it when the
 * id has changed. Neither a client nor an upstream can send it: only messages that bridge made count.
 */
export const SESSION_ID_CHANGED = 'bridge/session';

export const isUpstreamCommand = (method: string | undefined): method is UpstreamCommand =>
	method === RESUMED_COMMAND || method === LISTEN_COMMAND || method === STOP_LISTENING_COMMAND;

/**
 * What is known of a conversation with a server behind HTTP that any replica may carry on.
 *
 * Such a server is listened to only where its client listens, since many have one stream for that; and the session with it
 * goes on when one replica lets go of it.
 */
export type UpstreamControl = {
	/** The id that the server gave to the session. */
	session: string | undefined;
	/** The last event that was heard of what the server says of its own accord, if it names its events. */
	heard: string | undefined;
	/** Whether the server turned out to be one that is only reached over the connection that there is. */
	isConnectionBound: boolean;
	/** Whether the client has ended the session, so that the server is to know. */
	isEnded: boolean;
	/** Says something to the end of the connection. */
	send: (command: UpstreamCommand) => void;
};

export const createUpstreamControl = (session?: string): UpstreamControl => ({
	session,
	heard: undefined,
	isConnectionBound: false,
	isEnded: false,
	send: () => {},
});
