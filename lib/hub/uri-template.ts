/** Longer templates and URIs do not match. */
const MAX_TEMPLATE = 1000;
const MAX_URI = 2000;
/** Templates with more literals and expressions, neighboring expressions counted as one, do not match. */
const MAX_PARTS = 16;

const SLASH = 0x2f;

/** A literal, or the text of an expression: any text, or text without a slash. */
type Part = string | {readonly hasSlashes: boolean};

export type UriMatcher = (uri: string) => boolean;

/**
 * Compiles the template of an upstream: `{id}` matches text without a slash; `{+path}`, `{#…}`, `{/…}`,
 * `{?…}` and `{&…}` match any text. A template never becomes a regular expression: a match costs at most the
 * number of parts times the length of the URI.
 */
export function compileUriTemplate(template: string): UriMatcher {
	const parts = template.length > MAX_TEMPLATE ? [] : parseTemplate(template);
	const [first] = parts;
	const last = parts.at(-1);
	const prefix = typeof first === 'string' ? first : '';
	const suffix = typeof last === 'string' ? last : '';
	const canMatch = parts.length > 0 && parts.length <= MAX_PARTS;
	return uri =>
		canMatch &&
		uri.length <= MAX_URI &&
		uri.startsWith(prefix) &&
		uri.endsWith(suffix) &&
		matchesParts(parts, uri);
}

function parseTemplate(template: string): Part[] {
	const parts: Part[] = [];
	for (const text of template.split(/(\{[^{}]*\})/)) {
		const previous = parts.at(-1);
		if (text === '') continue;
		if (!(text.startsWith('{') && text.endsWith('}'))) parts.push(text);
		else if (typeof previous !== 'object') parts.push({hasSlashes: isReserved(text)});
		else parts[parts.length - 1] = {hasSlashes: previous.hasSlashes || isReserved(text)};
	}
	return parts;
}

const isReserved = (expression: string): boolean => '+#/?&'.includes(expression.charAt(1));

/** Tracks every position of the URI where the parts so far can end. */
function matchesParts(parts: readonly Part[], uri: string): boolean {
	let ends = new Uint8Array(uri.length + 1);
	ends[0] = 1;
	for (const part of parts)
		ends = typeof part === 'string' ? matchLiteral(part, uri, ends) : matchExpression(part, uri, ends);
	return ends[uri.length] === 1;
}

function matchLiteral(literal: string, uri: string, starts: Uint8Array): Uint8Array<ArrayBuffer> {
	const ends = new Uint8Array(uri.length + 1);
	for (let at = uri.indexOf(literal); at !== -1; at = uri.indexOf(literal, at + 1))
		if (starts[at] === 1) ends[at + literal.length] = 1;
	return ends;
}

function matchExpression(
	{hasSlashes}: {hasSlashes: boolean},
	uri: string,
	starts: Uint8Array,
): Uint8Array<ArrayBuffer> {
	const ends = new Uint8Array(uri.length + 1);
	let isInside = false;
	for (let at = 0; at <= uri.length; at++) {
		isInside ||= starts[at] === 1;
		ends[at] = isInside ? 1 : 0;
		if (!hasSlashes && uri.charCodeAt(at) === SLASH) isInside = false;
	}
	return ends;
}
