/** Returns the first code points of a text. No surrogate pair is split. */
export function firstCodePoints(text: string, count: number): string {
	if (text.length <= count) return text;
	let end = 0;
	for (const point of text) {
		if (count-- === 0) break;
		end += point.length;
	}
	return text.slice(0, end);
}

export function countCodePoints(text: string): number {
	let count = 0;
	for (const _ of text) count++;
	return count;
}
