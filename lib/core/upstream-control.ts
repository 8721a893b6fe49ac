/**
 * Commands from bridge to its own transport, sent in place of messages. They are never sent to an upstream.
 */
export const RESUMED_COMMAND = 'bridge/resumed';
export const LISTEN_COMMAND = 'bridge/listen';
export const STOP_LISTENING_COMMAND = 'bridge/quiet';
export type UpstreamCommand = typeof RESUMED_COMMAND | typeof LISTEN_COMMAND | typeof STOP_LISTENING_COMMAND;

/**
 * Sent by the transport when an upstream replies with a session id but without a message, and sent to it when
 * the id has changed. Clients and upstreams cannot send it: only messages that bridge created count.
 */
export const SESSION_ID_CHANGED = 'bridge/session';

export const isUpstreamCommand = (method: string | undefined): method is UpstreamCommand =>
	method === RESUMED_COMMAND || method === LISTEN_COMMAND || method === STOP_LISTENING_COMMAND;

/**
 * The state of a conversation with an HTTP upstream that any replica may continue.
 *
 * The stream for unsolicited messages is opened only on the replica that has the client's stream, since many
 * upstreams allow only one. The upstream session outlives the replica.
 */
export type UpstreamControl = {
	session: string | undefined;
	/** The id of the last event on the stream for unsolicited messages, if the upstream sends event ids. */
	heard: string | undefined;
	/** Whether the upstream can only be reached over the present connection. */
	isConnectionBound: boolean;
	/** Whether the client has ended the session, so the upstream session must be deleted, too. */
	isEnded: boolean;
	send: (command: UpstreamCommand) => void;
};

export const createUpstreamControl = (session?: string): UpstreamControl => ({
	session,
	heard: undefined,
	isConnectionBound: false,
	isEnded: false,
	send: () => {},
});
