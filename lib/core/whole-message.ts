import {BOM} from '../wire/line-splitter.js';
import {isOneLine, toOneLine} from '../wire/one-line.js';
import {Envelope, type MessageOrigin} from './envelope.js';

/** From this length on, copying a message to append one byte costs more than the rest of the processing. */
const MIN_PARTS_BYTES = 256 * 1024;
const LINE_FEED = Buffer.from('\n');

/**
 * Creates an envelope from a message that the transport delivers as a whole: an HTTP body, a frame or an
 * event.
 */
export function envelopeFromMessage(bytes: Buffer, origin: MessageOrigin): Envelope {
	const message = bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes;
	if (message.length >= MIN_PARTS_BYTES && isOneLine(message))
		return Envelope.receivedInParts([message, LINE_FEED], origin);
	return Envelope.received(toOneLine(message), origin);
}
