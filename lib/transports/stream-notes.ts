import type {Log} from '../log.js';

export type Noted = {readonly log: Log; readonly name: string};

/** Tells of a client that does not read what it is sent. */
export const slowClient =
	({log, name}: Noted) =>
	(unreadBytes: number): void =>
		log.warn('sse.slow_client', `${name} does not read what it is sent; its stream was cut.`, {unreadBytes});

/** Tells of a client that came back too late. */
export const lostEvents = ({log, name}: Noted, stream: number): void =>
	log.warn('sse.replay.lost', `${name} came back for a stream whose events are gone.`, {stream});

/** Logs a client that disconnected before it received its session. */
export const undelivered = ({log, name}: Noted): void =>
	log.info(
		'session.undelivered',
		`${name} disconnected before it received the response to its initialize; its session was ended.`,
	);
