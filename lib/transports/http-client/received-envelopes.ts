import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {envelopeFromMessage} from '../../core/whole-message.js';
import {batchElements} from '../../wire/batch.js';
import {isOneLine} from '../../wire/one-line.js';

/** The messages in a text that ends with a line feed: one, or those of a batch. */
export function receivedEnvelopes(text: Buffer, origin: MessageOrigin): Envelope[] {
	const message = text.subarray(0, -1);
	const envelope = isOneLine(message)
		? Envelope.received(text, origin)
		: envelopeFromMessage(message, origin);
	if (envelope.head.flaw !== 'a batch') return [envelope];
	return batchElements(envelope.bytes)?.map(part => envelope.batchElement(part)) ?? [envelope];
}

/** Concatenating a message of this size or more would cost more than all other processing. */
const MIN_PARTS_BYTES = 256 * 1024;

/** The messages in a text in parts, of which the last is a line feed. Large messages are not concatenated. */
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
