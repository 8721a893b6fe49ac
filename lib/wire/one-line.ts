import {scanMessage} from './scan.js';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Whether a message has no end of a line in it. */
export const isOneLine = (message: Buffer): boolean => !message.includes(LF) && !message.includes(CR);

/**
 * The message as one line. Line ends inside of it are white space and become blanks, since they would cut it in two for
 * its receiver; in a text that is no JSON they stay, for inside a string they are the very mistake.
 */
export function toOneLine(message: Buffer): Buffer {
	const line = Buffer.allocUnsafe(message.length + 1);
	message.copy(line);
	line[message.length] = LF;
	if (isOneLine(message) || scanMessage(message).flaw === 'not JSON') return line;
	for (let at = 0; at < message.length; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE;
	return line;
}
