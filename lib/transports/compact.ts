import {Envelope} from '../envelope.js';
import {isSmallPart, SMALL_PIECE} from '../http/compact-bytes.js';

/** A message that keeps no more in memory than itself. For messages that wait, and are not changed any more. */
export function compact(envelope: Envelope): Envelope {
	const {parts, origin} = envelope;
	const isLoose = parts ? envelope.size < SMALL_PIECE : isSmallPart(envelope.line);
	return isLoose ? Envelope.received(Buffer.concat(parts ?? [envelope.line]), origin) : envelope;
}
