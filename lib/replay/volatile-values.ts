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
/** Compiles the sources of the literals above. */
const combinePatterns = (shapes: readonly RegExp[]): RegExp =>
	new RegExp(shapes.map(({source}) => source).join('|'), 'gi');

/** What looks like a time, an id or a token, wherever it stands in a text: another one is as good. */
const volatilePattern = combinePatterns([...timePatterns, ...idPatterns]);
const idPattern = combinePatterns(idPatterns);

/** Names of members whose values are times, ids of one conversation, or tokens. */
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

/** Longer texts are compared as they are. */
const MAX_TEXT = 2 ** 20;

/** Whether two values that are not the same differ only in what is another one each time. */
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

/** A text without what is another one each time. */
const maskVolatileParts = (text: string): string => text.replace(volatilePattern, '\u0000');

/** What looks like an id or a token in a text, in its order. */
export const extractIds = (text: string): readonly string[] =>
	text.length > MAX_TEXT ? [] : (text.match(idPattern) ?? []);

/** A text with other ids in the place of those. */
export const replaceIds = (text: string, other: (id: string) => string): string =>
	text.length > MAX_TEXT ? text : text.replace(idPattern, other);

/** The text that a base64 stands for; nothing, if it is none. */
function decodeBase64Text(base64: string): string | undefined {
	if (base64.length < 16 || base64.length % 4 !== 0 || !/^[\w+/-]+={0,2}$/.test(base64)) return;
	const bytes = Buffer.from(base64, 'base64');
	return isUtf8(bytes) ? bytes.toString() : undefined;
}
