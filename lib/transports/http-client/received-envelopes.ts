import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {envelopeFromMessage} from '../../core/whole-message.js';
import {batchElements} from '../../wire/batch.js';
import {isOneLine} from '../../wire/one-line.js';

/**
 * The messages in a text that a transport has given as a whole, with a line feed behind it: one, or those of a batch, each
 * for itself.
 */
export function receivedEnvelopes(text: Buffer, origin: MessageOrigin): Envelope[] {
	const message = text.subarray(0, -1);
	const envelope = isOneLine(message)
		? Envelope.received(text, origin)
		: envelopeFromMessage(message, origin);
	if (envelope.head.flaw !== 'a batch') return [envelope];
	return batchElements(envelope.bytes)?.map(part => envelope.batchElement(part)) ?? [envelope];
}

/** To bring a message of this length into one piece costs more than all else that is done with it. */
const MIN_PARTS_BYTES = 256 * 1024;

/** The same for a text in parts, of which the last one is that line feed. A long one stays in its parts. */
export function receivedEnvelopesInParts(
	parts: readonly Buffer[],
	length: number,
	origin: MessageOrigin,
): Envelope[] {
	if (length >= MIN_PARTS_BYTES && parts.slice(0, -1).every(isOneLine)) {
		const envelope = Envelope.receivedInParts(parts, origin);
		if (envelope.head.flaw !== 'a batch') return [envelope];
	}
	return receivedEnvelopes(Buffer.concat(parts), origin);
}
