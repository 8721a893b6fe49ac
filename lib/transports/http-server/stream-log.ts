import type {Log} from '../../core/log.js';

export type StreamLogContext = {readonly log: Log; readonly name: string};

/** Tells of a client that does not read what it is sent. */
export const logSlowClient =
	({log, name}: StreamLogContext) =>
	(unreadBytes: number): void =>
		log.warn('sse.slow_client', `${name} does not read what it is sent; its stream was cut.`, {unreadBytes});

/** Tells of a client that came back too late. */
export const logLostEvents = ({log, name}: StreamLogContext, stream: number): void =>
	log.warn('sse.replay.lost', `${name} came back for a stream whose events are gone.`, {stream});

/** Logs a client that disconnected before it received its session. */
export const logUndelivered = ({log, name}: StreamLogContext): void =>
	log.info(
		'session.undelivered',
		`${name} disconnected before it received the response to its initialize; its session was ended.`,
	);
