/** Longer words get no suggestion. */
const MAX_WORD_LENGTH = 64;
/**
 * The maximum number of candidates. With the limit above, the comparison takes at most a few milliseconds.
 */
const MAX_CANDIDATES = 1000;

/** Returns a suggestion with the closest candidate, or an empty text if none is close. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
	const closest = closestWord(word, candidates);
	return closest === undefined ? '' : `Did you mean ${prefix}${closest}?`;
}

/** Returns the candidate closest to a mistyped word, ignoring case, or undefined if none is close. */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
	if (word.length > MAX_WORD_LENGTH) return;
	// Most pairs of short words differ in two letters, so short words allow only one edit.
	const limit = Math.max(1, Math.floor(word.length / 3));
	let best: {readonly name: string; readonly distance: number} | undefined;
	for (const name of candidates.slice(0, MAX_CANDIDATES)) {
		if (Math.abs(name.length - word.length) > limit) continue;
		const candidateDistance = editDistance(word.toLowerCase(), name.toLowerCase());
		if (candidateDistance <= limit && (!best || candidateDistance < best.distance))
			best = {name, distance: candidateDistance};
	}
	return best?.name;
}

/**
 * The number of insertions, deletions, substitutions and swaps of neighbors that turn one word into the
 * other.
 */
function editDistance(from: string, to: string): number {
	let previous = new Uint16Array(to.length + 1);
	let row = Uint16Array.from(previous, (_, index) => index);
	let next = new Uint16Array(row.length);
	for (let i = 0; i < from.length; i++) {
		next[0] = i + 1;
		for (let j = 0; j < to.length; j++) {
			const isSwapped = from[i] === to[j - 1] && from[i - 1] === to[j] && i > 0 && j > 0;
			next[j + 1] = Math.min(
				(row[j] ?? 0) + (from[i] === to[j] ? 0 : 1),
				(row[j + 1] ?? 0) + 1,
				(next[j] ?? 0) + 1,
				isSwapped ? (previous[j - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
			);
		}
		[previous, row, next] = [row, next, previous];
	}
	return row[to.length] ?? 0;
}
