const times: ReadonlyArray<readonly [RegExp, string]> = [
	[/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
	// `toLocaleTimeString()` of the server, in any locale.
	[/\d{1,2}[:.]\d\d[:.]\d\d(?:\s?[AP]M)?/g, '<time>'],
	// `Date.prototype.toString()` in the file information of server-filesystem.
	[/[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} <time> GMT[^\n"]*/g, '<date>'],
	// Task ids of the SDK and elicitation ids are random.
	[/\b[0-9a-f]{32}\b/g, '<id>'],
	[/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>'],
];

function normaliseText(text: string, folder: string | undefined): string {
	const located = folder === undefined ? text : text.replaceAll(folder, '<folder>');
	return times.reduce((result, [pattern, name]) => result.replace(pattern, name), located);
}

/** Replaces the parts of a value that vary between runs: times, random ids, the test's folder. */
export function normalise(value: unknown, folder?: string): unknown {
	if (typeof value === 'string') {
		return normaliseText(value, folder);
	}

	if (Array.isArray(value)) {
		return value.map(item => normalise(item, folder));
	}

	if (typeof value === 'object' && value !== null) {
		return Object.fromEntries(
			Object.entries(value).map(([key, item]) => [key, normaliseMember(key, item, folder)]),
		);
	}

	return value;
}

function normaliseMember(key: string, value: unknown, folder: string | undefined): unknown {
	// A blob of server-everything is a text that contains the time of day.
	if (key === 'blob' && typeof value === 'string') {
		return `base64 of ${normaliseText(Buffer.from(value, 'base64').toString('latin1'), folder)}`;
	}

	return normalise(value, folder);
}
