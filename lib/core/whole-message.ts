import {BOM} from '../wire/line-splitter.js';
import {isOneLine, toOneLine} from '../wire/one-line.js';
import {Envelope, type MessageOrigin} from './envelope.js';

/** To copy a message of this length, for the sake of one byte behind it, costs more than all else done with it. */
const MIN_PARTS_BYTES = 256 * 1024;
const LINE_FEED = Buffer.from('\n');

/** A message that its transport delivers as a whole: the body of a request, a frame, an event of several lines. */
export function envelopeFromMessage(bytes: Buffer, origin: MessageOrigin): Envelope {
	const message = bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes;
	if (message.length >= MIN_PARTS_BYTES && isOneLine(message))
		return Envelope.receivedInParts([message, LINE_FEED], origin);
	return Envelope.received(toOneLine(message), origin);
}
