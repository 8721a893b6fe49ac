import {Envelope, type Origin} from '../envelope.js';
import {elements} from '../wire/batch.js';
import {isOneLine} from '../wire/one-line.js';
import {wholeMessage} from './whole-message.js';

/**
 * The messages in a text that a transport has given as a whole, with a line feed behind it: one, or those of a batch, each
 * for itself.
 */
export function received(text: Buffer, origin: Origin): Envelope[] {
	const message = text.subarray(0, -1);
	const envelope = isOneLine(message) ? Envelope.received(text, origin) : wholeMessage(message, origin);
	if (envelope.head.flaw !== 'a batch') return [envelope];
	return elements(envelope.bytes)?.map(part => envelope.part(part)) ?? [envelope];
}

/** To bring a message of this length into one piece costs more than all else that is done with it. */
const LONG = 256 * 1024;

/** The same for a text in parts, of which the last one is that line feed. A long one stays in its parts. */
export function receivedInParts(parts: readonly Buffer[], length: number, origin: Origin): Envelope[] {
	if (length >= LONG && parts.slice(0, -1).every(isOneLine)) {
		const envelope = Envelope.receivedInParts(parts, origin);
		if (envelope.head.flaw !== 'a batch') return [envelope];
	}
	return received(Buffer.concat(parts), origin);
}
