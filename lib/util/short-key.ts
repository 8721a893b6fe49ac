import {createHash} from 'node:crypto';

/** Texts longer than this, in characters, are hashed. */
const MAX_KEY = 1024;

/** Returns a map key for a text of a peer: the text itself, or its SHA-256 if it is long. */
export const shortKey = (text: string): string =>
	text.length <= MAX_KEY ? text : `sha256 ${createHash('sha256').update(text).digest('base64url')}`;
