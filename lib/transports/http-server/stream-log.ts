import type {Log} from '../../core/log.js';

export type StreamLogContext = {readonly log: Log; readonly name: string};

export const logSlowClient =
	({log, name}: StreamLogContext) =>
	(unreadBytes: number): void =>
		log.warn('sse.slow_client', `${name} does not read its stream; it was disconnected.`, {unreadBytes});

/** Logs a client that resumed a stream after some of its events were evicted. */
export const logLostEvents = ({log, name}: StreamLogContext, stream: number): void =>
	log.warn('sse.replay.lost', `${name} resumed a stream, but some of its events are no longer buffered.`, {
		stream,
	});

export const logUndelivered = ({log, name}: StreamLogContext): void =>
	log.info(
		'session.undelivered',
		`${name} disconnected before it received the response to initialize; its session was ended.`,
	);
