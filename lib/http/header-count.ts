import type {IncomingMessage} from 'node:http';

/** How often a header was sent, by its name in lower case: Node shows only one of several. */
export function countHeader({rawHeaders}: IncomingMessage, name: string): number {
	let count = 0;
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const text = rawHeaders[at];
		// Few have the same length, and to write all of them in lower case takes longer than to look.
		if (text?.length === name.length && text.toLowerCase() === name) count++;
	}
	return count;
}
