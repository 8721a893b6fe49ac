import {Envelope, type Origin} from '../envelope.js';
import {BOM} from '../wire/lines.js';
import {asLine, isOneLine} from '../wire/one-line.js';

/** To copy a message of this length, for the sake of one byte behind it, costs more than all else done with it. */
const LONG = 256 * 1024;
const LINE_FEED = Buffer.from('\n');

/** A message that its transport delivers as a whole: the body of a request, a frame, an event of several lines. */
export function wholeMessage(bytes: Buffer, origin: Origin): Envelope {
	const message = bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes;
	if (message.length >= LONG && isOneLine(message))
		return Envelope.receivedInParts([message, LINE_FEED], origin);
	return Envelope.received(asLine(message), origin);
}
