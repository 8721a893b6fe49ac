/** No number of so many digits is rounded. */
const SAFE_DIGITS = 15;

/**
 * A text that is the same for all spellings of an id that a peer may give back for it.
 *
 * Peers parse the id and write it anew, so `1.0` comes back as `1`, and 2^53 + 1 from many as 2^53.
 */
export function canonicalId(id: string): string {
	if (id.charCodeAt(0) === 0x22) return id.includes('\\') ? JSON.stringify(JSON.parse(id)) : id;
	return isPlainInteger(id) ? id : String(Number(id));
}

/** A text that is the same for ids that are one id: numbers written in two ways are two, strings with other escapes are not. */
export const exactId = (id: string): string => (id.charCodeAt(0) === 0x22 ? canonicalId(id) : id);

/** Whether every server answers under this id, given as its key: many drop fractions, or round what is above 2^53. */
export const isCommonId = (key: string): boolean =>
	key.charCodeAt(0) === 0x22 || isPlainInteger(key) || Number.isSafeInteger(Number(key));

/** An id as a word: a string without its quotes. */
export const unquotedId = (id: string): string => (id.startsWith('"') ? String(JSON.parse(id)) : id);

/** Whether JSON's number is written as everybody would write it: the common case, so no regular expression. */
function isPlainInteger(id: string): boolean {
	if (id.length > SAFE_DIGITS) return false;
	for (let at = 0; at < id.length; at++) {
		const digit = id.charCodeAt(at);
		if (digit < 0x30 || digit > 0x39) return false;
	}
	return true;
}
