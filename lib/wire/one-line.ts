import {scanMessage} from './scan.js';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

export const isOneLine = (message: Buffer): boolean => !message.includes(LF) && !message.includes(CR);

/**
 * Returns the message as one line. Line breaks inside of it are white space and become blanks, since they
 * would split the message for its receiver. Text that is not JSON stays unchanged, since a line break inside
 * of a string may be the reported error.
 */
export function toOneLine(message: Buffer): Buffer {
	const line = Buffer.allocUnsafe(message.length + 1);
	message.copy(line);
	line[message.length] = LF;
	if (isOneLine(message) || scanMessage(message).flaw === 'not JSON') return line;
	for (let at = 0; at < message.length; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE;
	return line;
}
