import {elements} from './batch.js';
import {type Head, scan} from './scan.js';

/** Whether a message, or one of a batch, is to be answered. */
export function isAsking({id, method, flaw}: Head, bytes: Buffer): boolean {
	if (flaw !== 'a batch') return flaw !== undefined || (id !== undefined && method !== undefined);
	const parts = elements(bytes);
	return (
		!parts ||
		parts.length === 0 ||
		parts.some(part => {
			const head = scan(part, part.length);
			return head.flaw !== undefined || (head.id !== undefined && head.method !== undefined);
		})
	);
}
