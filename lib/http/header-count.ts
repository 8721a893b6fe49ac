import type {IncomingMessage} from 'node:http';

/**
 * Returns how often a header was sent, by its lower-case name. Node's `headers` do not contain duplicates.
 */
export function countHeader({rawHeaders}: IncomingMessage, name: string): number {
	let count = 0;
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const text = rawHeaders[at];
		// Comparing lengths first is faster than converting each name to lower case.
		if (text?.length === name.length && text.toLowerCase() === name) count++;
	}
	return count;
}
