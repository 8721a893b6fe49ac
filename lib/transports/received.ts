import {Envelope, type Origin} from '../envelope.js';
import {elements} from '../wire/batch.js';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const BRACKET = 0x5b;

/**
 * The messages in a piece of text that a transport has given as a whole, which ends with a line feed: one, or those of a
 * batch, each for itself.
 */
export function received(text: Buffer, origin: Origin): Envelope[] {
	const line = inOneLine(text);
	const envelope = Envelope.received(line, origin);
	if (firstByte(line) !== BRACKET) return [envelope];
	return elements(envelope.bytes)?.map(part => envelope.part(part)) ?? [envelope];
}

/** A message is a line here. A line break in JSON is white space, or it is no JSON. */
export function inOneLine(text: Buffer): Buffer {
	const end = text.length - 1;
	if (text.indexOf(LF) === end && text.indexOf(CR) === -1) return text;
	const line = Buffer.from(text);
	for (let at = 0; at < end; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE;
	return line;
}

function firstByte(line: Buffer): number | undefined {
	let at = 0;
	while (line[at] === SPACE || line[at] === 0x09) at++;
	return line[at];
}
