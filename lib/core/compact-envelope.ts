import {isSmallPart, MIN_COMPACTED_BYTES} from '../util/compact-bytes.js';
import {Envelope} from './envelope.js';

/**
 * Copies a message out of a larger read buffer, which it would otherwise keep in memory. For queued messages
 * that no stage changes any more.
 */
export function compactEnvelope(envelope: Envelope): Envelope {
	const {parts, origin} = envelope;
	const isLoose = parts ? envelope.size < MIN_COMPACTED_BYTES : isSmallPart(envelope.line);
	return isLoose ? Envelope.received(Buffer.concat(parts ?? [envelope.line]), origin) : envelope;
}
