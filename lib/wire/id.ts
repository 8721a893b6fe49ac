/** An integer with this many digits is never rounded. */
const SAFE_DIGITS = 15;

/**
 * Returns the same text for all spellings of an id that a peer may use in its response.
 *
 * Peers parse ids and serialize them again, so `1.0` is returned as `1`, and 2^53 + 1 by many as 2^53.
 */
export function canonicalId(id: string): string {
	if (id.charCodeAt(0) === 0x22) return id.includes('\\') ? JSON.stringify(JSON.parse(id)) : id;
	return isPlainInteger(id) ? id : String(Number(id));
}

/**
 * Returns the same text for equal ids. Numbers with different spellings are different ids. Strings that
 * differ only in their escapes are equal.
 */
export const exactId = (id: string): string => (id.charCodeAt(0) === 0x22 ? canonicalId(id) : id);

/**
 * Whether every upstream responds with this id, given as its key. Many truncate fractions or round numbers
 * above 2^53.
 */
export const isCommonId = (key: string): boolean =>
	key.charCodeAt(0) === 0x22 || isPlainInteger(key) || Number.isSafeInteger(Number(key));

/** Returns the id as plain text, without quotes and escapes. */
export const unquotedId = (id: string): string => (id.startsWith('"') ? String(JSON.parse(id)) : id);

/** Whether a JSON number consists of a few digits only. Avoids a regular expression for the common case. */
function isPlainInteger(id: string): boolean {
	if (id.length > SAFE_DIGITS) return false;
	for (let at = 0; at < id.length; at++) {
		const digit = id.charCodeAt(at);
		if (digit < 0x30 || digit > 0x39) return false;
	}
	return true;
}
