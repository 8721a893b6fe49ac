/** So many code points from the beginning of a text: no character is ever cut in two. */
export function firstCodePoints(text: string, count: number): string {
	if (text.length <= count) return text;
	let end = 0;
	for (const point of text) {
		if (count-- === 0) break;
		end += point.length;
	}
	return text.slice(0, end);
}

/** How many code points a text has. */
export function countCodePoints(text: string): number {
	let count = 0;
	for (const _ of text) count++;
	return count;
}
