import {createHash} from 'node:crypto';

/** The longest text of a peer that is a key itself, in characters. */
const MAX_KEY = 1024;

/** A key for a text of a peer: the text itself, or its SHA-256 where it is long, so that a map never holds long keys. */
export const shortKey = (text: string): string =>
	text.length <= MAX_KEY ? text : `sha256 ${createHash('sha256').update(text).digest('base64url')}`;
