import {isUtf8} from 'node:buffer';

const timePatterns = [
	/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/,
	/(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [\w ]{5,12}\d{4} \d\d:\d\d:\d\d(?: GMT(?:[+-]\d{4})?)?(?: \([^)]{1,60}\))?/,
	/\b\d{1,2}:\d\d:\d\d(?:\.\d+)?(?: ?[AP]M)?\b/,
	/\b\d{1,2}\/\d{1,2}\/\d{4}\b/,
	/\b1[5-9]\d{11}(?:\d{3})?\b/,
];
const idPatterns = [
	/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/,
	/(?<![\w-])eyJ[\w-]{10,20000}\.[\w-]{10,20000}\.[\w-]*/,
	/\b[\da-f]{32,128}\b/,
];
/** Combines only the literals above. */
const combinePatterns = (shapes: readonly RegExp[]): RegExp =>
	new RegExp(shapes.map(({source}) => source).join('|'), 'gi');

/** Parts of a text that look like a time, an id or a token. Any other such part counts as equal. */
const volatilePattern = combinePatterns([...timePatterns, ...idPatterns]);
const idPattern = combinePatterns(idPatterns);

/** Names of members whose values are times, ids of one session, or tokens. */
const volatileNames = new Set([
	'progresstoken',
	'cursor',
	'nextcursor',
	'sessionid',
	'requestid',
	'taskid',
	'traceparent',
	'tracestate',
	'etag',
	'time',
	'timestamp',
	'createdat',
	'updatedat',
	'lastupdatedat',
	'startedat',
	'endedat',
	'expiresat',
	'lastmodified',
	'durationms',
	'elapsedms',
	'uptime',
	'pid',
]);

/** Longer texts have to be equal. */
const MAX_TEXT = 2 ** 20;

/** Whether two different values differ only in times, ids or tokens. */
export function differsOnlyInVolatileParts(name: string, one: unknown, other: unknown): boolean {
	if (typeof one !== typeof other) return false;
	const isVolatile = volatileNames.has(name.toLowerCase().replace(/[-_]/g, ''));
	if (isVolatile && (typeof one === 'string' || typeof one === 'number')) return true;
	if (typeof one !== 'string' || typeof other !== 'string') return false;
	if (one.length > MAX_TEXT || other.length > MAX_TEXT) return false;
	if (maskVolatileParts(one) === maskVolatileParts(other)) return true;
	const [decoded, otherDecoded] = [decodeBase64Text(one), decodeBase64Text(other)];
	return (
		decoded !== undefined &&
		otherDecoded !== undefined &&
		maskVolatileParts(decoded) === maskVolatileParts(otherDecoded)
	);
}

const maskVolatileParts = (text: string): string => text.replace(volatilePattern, '\u0000');

/** Returns the parts of a text that look like an id or a token, in order. */
export const extractIds = (text: string): readonly string[] =>
	text.length > MAX_TEXT ? [] : (text.match(idPattern) ?? []);

export const replaceIds = (text: string, other: (id: string) => string): string =>
	text.length > MAX_TEXT ? text : text.replace(idPattern, other);

/** Decodes base64; undefined if it does not encode a text. */
function decodeBase64Text(base64: string): string | undefined {
	if (base64.length < 16 || base64.length % 4 !== 0 || !/^[\w+/-]+={0,2}$/.test(base64)) return;
	const bytes = Buffer.from(base64, 'base64');
	return isUtf8(bytes) ? bytes.toString() : undefined;
}
