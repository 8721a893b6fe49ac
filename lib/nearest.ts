/** Names the known word that a mistyped one is closest to, if one is close. */
export function nearest(word: string, known: readonly string[], prefix = ''): string {
	const [best] = known
		.map(name => ({name, distance: distance(word, name)}))
		.sort((one, other) => one.distance - other.distance);
	const isClose = best !== undefined && best.distance <= Math.max(2, word.length / 3);
	return isClose ? `Did you mean ${prefix}${best.name}?` : '';
}

/** How many letters have to be added, left out or changed to make one word of the other. */
function distance(from: string, to: string): number {
	let row = Array.from({length: to.length + 1}, (_, index) => index);
	for (const [i, letter] of [...from].entries()) {
		const next = [i + 1];
		for (let j = 0; j < to.length; j++) {
			const changed = (row[j] ?? 0) + (letter === to[j] ? 0 : 1);
			next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
		}
		row = next;
	}
	return row.at(-1) ?? 0;
}
