import type {Envelope} from '../core/envelope.js';
import type {Log, LogLevelName} from '../core/log.js';
import {redactMessage, redactStart} from '../core/redact.js';
import {perMessage, type Stage} from '../core/stage.js';
import {describeMessage} from './trace.js';

type LogMessagesOptions = {
	readonly log: Log;
	/** The level of the log. Below debug, messages cost nothing. */
	readonly level: LogLevelName;
	/** The name of the peer next to this stage. */
	readonly peer: string;
};

/** Bytes of a message that are redacted. */
const MAX_REDACTED = 64 * 1024;
/** Characters of a redacted message that are logged. */
const MAX_LOGGED = 4000;

/** Logs the messages to and from a peer: a description at debug level, the redacted text at trace level. */
export function logMessages({log, level, peer}: LogMessagesOptions): Stage {
	if (level !== 'debug' && level !== 'trace') return {};
	const logMessage = (envelope: Envelope, from: string, to: string): Envelope => {
		const description = describeMessage(envelope);
		const {id} = envelope.head;
		const fields = {from, to, ...(id === undefined ? {} : {id}), bytes: envelope.size};
		log.debug('rpc.message', `${from} to ${to}: ${description}`, fields);
		if (level === 'trace') log.trace('rpc.bytes', textOf(envelope), {from, to});
		return envelope;
	};
	const [toPeer, fromPeer] = [
		(envelope: Envelope) => logMessage(envelope, 'bridge', peer),
		(envelope: Envelope) => logMessage(envelope, peer, 'bridge'),
	];
	return peer === 'client'
		? perMessage({toUpstream: fromPeer, toClient: toPeer})
		: perMessage({toUpstream: toPeer, toClient: fromPeer});
}

const textOf = ({bytes}: Envelope): string =>
	redactStart(redactMessage(bytes.subarray(0, MAX_REDACTED)).toString(), MAX_LOGGED);
