const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * A number from 0 (inclusive) to 1 (exclusive) that depends only on the words, so that a seed reproduces a
 * run.
 */
export function randomOf(...words: ReadonlyArray<string | number>): number {
	let hash = OFFSET;
	for (const letter of words.join(' ')) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), PRIME);
	// FNV-1a alone mixes the last letter badly, so the final steps of MurmurHash3 follow.
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
