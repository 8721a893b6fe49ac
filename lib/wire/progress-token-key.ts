import {shortKey} from '../util/short-key.js';
import {memberText} from './member.js';

/** Returns a map key for the progress token in a message, or undefined if there is none. */
export function progressTokenKey(message: Buffer, ...path: readonly string[]): string | undefined {
	const token = memberText(message, ...path, 'progressToken');
	return token === undefined ? undefined : shortKey(token);
}
