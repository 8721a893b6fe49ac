import {shortKey} from '../util/short-key.js';
import {memberText} from './member.js';

export function progressTokenKey(message: Buffer, ...path: readonly string[]): string | undefined {
	const token = memberText(message, ...path, 'progressToken');
	return token === undefined ? undefined : shortKey(token);
}
