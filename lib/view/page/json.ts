/** A number whose source text differs from its serialization. */
export class SourceNumber {
	readonly text: string;

	constructor(text: string) {
		this.text = text;
	}
}

/**
 * Parses JSON, or returns undefined if it is invalid. Numbers keep their source text if the browser provides
 * it.
 */
export function parseJsonSource(text: string): unknown {
	try {
		return JSON.parse(text, keepSourceNumber);
	} catch {
		return;
	}
}

function keepSourceNumber(
	this: unknown,
	_key: string,
	value: unknown,
	context?: {readonly source?: string},
): unknown {
	const source = context?.source;
	if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
	return new SourceNumber(source);
}

/** Serializes a value as indented JSON with the source text of its numbers. */
export function stringifyJsonSource(value: unknown, indent = ''): string {
	if (value instanceof SourceNumber) return value.text;
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
	const inner = `${indent}  `;
	const parts = Array.isArray(value)
		? value.map(item => `${inner}${stringifyJsonSource(item, inner)}`)
		: Object.entries(value).map(
				([key, item]) => `${inner}${JSON.stringify(key)}: ${stringifyJsonSource(item, inner)}`,
			);
	const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
	return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

export type JsonMembers = {readonly [key: string]: unknown};

export const isJsonMembers = (value: unknown): value is JsonMembers =>
	typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof SourceNumber);

/** Whether two values are equal, whatever the order of members. */
export function isDeepEqual(one: unknown, other: unknown): boolean {
	if (one instanceof SourceNumber && other instanceof SourceNumber) return one.text === other.text;
	if (Array.isArray(one) && Array.isArray(other))
		return one.length === other.length && one.every((item, at) => isDeepEqual(item, other[at]));
	if (!isJsonMembers(one) || !isJsonMembers(other)) return one === other;
	const keys = Object.keys(one);
	return (
		keys.length === Object.keys(other).length &&
		keys.every(key => key in other && isDeepEqual(one[key], other[key]))
	);
}
