/** Longer words are not typing errors. */
const MAX_WORD = 64;
/** Known words that are compared. With the limit above, this takes a few milliseconds at most. */
const MAX_KNOWN = 1000;

/** Names the known word that a mistyped one is closest to, if one is close. There is no guess for long words. */
export function nearest(word: string, known: readonly string[], prefix = ''): string {
	if (word.length > MAX_WORD) return '';
	const limit = Math.max(2, word.length / 3);
	let best: {readonly name: string; readonly distance: number} | undefined;
	for (const name of known.slice(0, MAX_KNOWN)) {
		if (Math.abs(name.length - word.length) > limit) continue;
		const found = distance(word, name);
		if (found <= limit && (!best || found < best.distance)) best = {name, distance: found};
	}
	return best ? `Did you mean ${prefix}${best.name}?` : '';
}

/** How many letters have to be added, left out or changed to make one word of the other. */
function distance(from: string, to: string): number {
	let row = Uint16Array.from({length: to.length + 1}, (_, index) => index);
	let next = new Uint16Array(row.length);
	for (let i = 0; i < from.length; i++) {
		next[0] = i + 1;
		for (let j = 0; j < to.length; j++) {
			const changed = (row[j] ?? 0) + (from.charCodeAt(i) === to.charCodeAt(j) ? 0 : 1);
			next[j + 1] = Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1);
		}
		[row, next] = [next, row];
	}
	return row[to.length] ?? 0;
}
