/** A number that a parser would not give back as it is written. */
export class ExactNumber {
	readonly text: string;

	constructor(text: string) {
		this.text = text;
	}
}

/** A value, or undefined where the text is no JSON. Numbers stay as they are written, where the browser can tell. */
export function parsed(text: string): unknown {
	try {
		return JSON.parse(text, exact);
	} catch {
		return;
	}
}

function exact(this: unknown, _key: string, value: unknown, context?: {readonly source?: string}): unknown {
	const source = context?.source;
	if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
	return new ExactNumber(source);
}

/** A value as JSON, over several lines, with its numbers as they were. */
export function written(value: unknown, indent = ''): string {
	if (value instanceof ExactNumber) return value.text;
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
	const inner = `${indent}  `;
	const parts = Array.isArray(value)
		? value.map(item => `${inner}${written(item, inner)}`)
		: Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${written(item, inner)}`);
	const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
	return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

export type Members = {readonly [key: string]: unknown};

export const isMembers = (value: unknown): value is Members =>
	typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** Whether two values are written alike, whatever the order of members. */
export function isSame(one: unknown, other: unknown): boolean {
	if (one instanceof ExactNumber && other instanceof ExactNumber) return one.text === other.text;
	if (Array.isArray(one) && Array.isArray(other))
		return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
	if (!isMembers(one) || !isMembers(other)) return one === other;
	const keys = Object.keys(one);
	return (
		keys.length === Object.keys(other).length &&
		keys.every(key => key in other && isSame(one[key], other[key]))
	);
}
