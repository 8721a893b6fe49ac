/** What bridge tells its own end of a connection, in the place of a message. None of it reaches a server. */
export const RESUMED = 'bridge/resumed';
export const LISTEN = 'bridge/listen';
export const QUIET = 'bridge/quiet';
export type Word = typeof RESUMED | typeof LISTEN | typeof QUIET;

/**
 * Sent by the end of a connection when an upstream named a session id in a response that has no message, and to it when the
 * id has changed. Neither a client nor an upstream can send it: only messages that bridge made count.
 */
export const SESSION = 'bridge/session';

export const isWord = (method: string | undefined): method is Word =>
	method === RESUMED || method === LISTEN || method === QUIET;

/**
 * What is known of a conversation with a server behind HTTP that any replica may carry on.
 *
 * Such a server is listened to only where its client listens, since many have one stream for that; and the session with it
 * goes on when one replica lets go of it.
 */
export type Carriage = {
	/** The id that the server gave to the session. */
	session: string | undefined;
	/** The last event that was heard of what the server says of its own accord, if it names its events. */
	heard: string | undefined;
	/** Whether the server turned out to be one that is only reached over the connection that there is. */
	isFixed: boolean;
	/** Whether the client has ended the session, so that the server is to know. */
	isOver: boolean;
	/** Says something to the end of the connection. */
	say: (word: Word) => void;
};

export const newCarriage = (session?: string): Carriage => ({
	session,
	heard: undefined,
	isFixed: false,
	isOver: false,
	say: () => {},
});
