const CONTEXT = 2;

/**
 * Returns the difference between two texts that differ in one place: lines with `-` and `+`, and context
 * lines.
 */
export function lineDiff(before: string, after: string): string[] {
	const [old, current] = [linesOf(before), linesOf(after)];
	const shorter = Math.min(old.length, current.length);
	let head = 0;
	while (head < shorter && old[head] === current[head]) head++;
	let tail = 0;
	while (tail < shorter - head && old.at(-1 - tail) === current.at(-1 - tail)) tail++;
	return [
		...old.slice(Math.max(0, head - CONTEXT), head).map(line => `  ${line}`),
		...old.slice(head, old.length - tail).map(line => `- ${line}`),
		...current.slice(head, current.length - tail).map(line => `+ ${line}`),
		...old.slice(old.length - tail, old.length - tail + CONTEXT).map(line => `  ${line}`),
	];
}

const linesOf = (text: string): string[] => {
	const lines = text.split('\n');
	if (lines.at(-1) === '') lines.pop();
	return lines;
};
