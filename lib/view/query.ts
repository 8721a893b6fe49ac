/** An invalid query parameter. */
export class QueryError extends Error {
	override readonly name = 'QueryError';
}

const MAX_SHOWN = 40;

/**
 * Parses a count or position from a query. Throws unless the parameter occurs at most once and is a whole
 * number.
 */
export function parseNumberParameter(query: URLSearchParams, name: string, defaultValue = 0): number {
	const [text, ...others] = query.getAll(name);
	if (text === undefined) return defaultValue;
	const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
	if (others.length === 0 && Number.isSafeInteger(value)) return value;
	const found = others.length > 0 ? `${others.length + 1} of them` : JSON.stringify(text.slice(0, MAX_SHOWN));
	throw new QueryError(
		`The parameter "${name}" must be one whole number from 0 to ${Number.MAX_SAFE_INTEGER}; found ${found}.`,
	);
}
