/** The parts that vary between runs, with their placeholders. The order matters. */
const varying: ReadonlyArray<readonly [RegExp, string]> = [
	[/\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d+Z/g, '<time>'],
	[/\b\d\d:\d\d:\d\d\.\d{3}Z?\b/g, '<clock>'],
	[/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, '<id>'],
	[/\b[\da-f]{16,}\b/g, '<id>'],
	[/"ConnID":"\w+"/g, '"ConnID":"<id>"'],
	[/\bpid \d+\b/g, 'pid <pid>'],
	[/((?:127\.0\.0\.1|localhost|\[::1\]):)\d+/g, '$1<port>'],
	[/\b\d[\d,]*(?:\.\d+)? ?(?:B|kB|MB|GB|KiB|MiB)(?!\w)/g, '<size>'],
	[/\b\d[\d,]*(?:\.\d+)? ?(?:µs|ms|s)(?!\w)/g, '<span>'],
	[/[ \t]+/g, ' '],
];

export const normalized = (line: string): string =>
	varying.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trim();

/** Whether a line matches, with `…` for any text. */
export function matchesLine(expected: string, actual: string): boolean {
	const [first = '', ...rest] = normalized(expected).split(/ ?… ?/);
	const line = normalized(actual);
	if (rest.length === 0) return line === first;
	if (!line.startsWith(first)) return false;
	const last = rest.pop() ?? '';
	let at = first.length;
	for (const part of rest) {
		const found = line.indexOf(part, at);
		if (found === -1) return false;
		at = found + part.length;
	}
	return line.length - last.length >= at && line.endsWith(last);
}

/** Whether lines match: a line of `…` alone matches any number of lines. */
export function matchesLines(expected: readonly string[], actual: readonly string[]): boolean {
	// reachable[i]: whether the first i lines match so far.
	let reachable = [true, ...actual.map(() => false)];
	for (const line of expected) {
		const isAny = line.trim() === '…';
		const next = reachable.map(() => false);
		for (const [at, isReachable] of reachable.entries()) {
			if (isAny) next[at] = isReachable || (at > 0 && next[at - 1] === true);
			else if (isReachable && at < actual.length) next[at + 1] = matchesLine(line, actual[at] ?? '');
		}
		reachable = next;
	}
	return reachable.at(-1) === true;
}
