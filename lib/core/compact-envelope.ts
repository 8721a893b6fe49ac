import {isSmallPart, MIN_COMPACTED_BYTES} from '../util/compact-bytes.js';
import {Envelope} from './envelope.js';

/** A message that keeps no more in memory than itself. For messages that wait, and are not changed any more. */
export function compactEnvelope(envelope: Envelope): Envelope {
	const {parts, origin} = envelope;
	const isLoose = parts ? envelope.size < MIN_COMPACTED_BYTES : isSmallPart(envelope.line);
	return isLoose ? Envelope.received(Buffer.concat(parts ?? [envelope.line]), origin) : envelope;
}
