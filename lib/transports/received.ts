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
