import {batchElements} from './batch.js';
import {type MessageHead, scanMessage} from './scan.js';

/**
 * Whether a message, or an element of a batch, requires a response. Invalid messages get an error response.
 */
export function expectsResponse({id, method, flaw}: MessageHead, bytes: Buffer): boolean {
	if (flaw !== 'a batch') return flaw !== undefined || (id !== undefined && method !== undefined);
	const parts = batchElements(bytes);
	return (
		!parts ||
		parts.length === 0 ||
		parts.some(part => {
			const head = scanMessage(part, part.length);
			return head.flaw !== undefined || (head.id !== undefined && head.method !== undefined);
		})
	);
}
