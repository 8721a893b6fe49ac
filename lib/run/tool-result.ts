import {parseWithBigInts} from '../wire/bigint-json.js';
import {asObject} from './input-schema.js';
import {ProgramError, truncateMessage} from './program-error.js';
import type {ContentPart} from './types.js';

/** The value of a call for the program, and media for the client. */
type ParsedToolResult = {readonly value: unknown; readonly attachments: readonly ContentPart[]};

/**
 * Parses the result of a tool. Structured content takes precedence. A single text that is a JSON object or
 * array is parsed. Several texts are joined with line feeds. An error result throws. `checkJson` throws for a
 * text that is too complex to parse.
 */
export function parseToolResult(
	result: unknown,
	checkJson: (text: string) => void = () => {},
): ParsedToolResult {
	const {content, structuredContent, isError} = asObject(result);
	if (content === undefined && structuredContent === undefined)
		return {value: result ?? null, attachments: []};
	const parts = Array.isArray(content) ? content : [];
	if (isError === true) {
		const text = parts.map(contentText).join('\n');
		throw new ProgramError(
			'ToolError',
			truncateMessage(text === '' ? 'The tool failed without an error message.' : text),
		);
	}
	const attachments = parts.flatMap(parseAttachment);
	if (structuredContent !== undefined && structuredContent !== null) {
		return {value: structuredContent, attachments};
	}
	if (parts.length === 0) return {value: null, attachments};
	const texts = parts.map(contentText);
	const [first = ''] = texts;
	return {value: texts.length === 1 ? parseText(first, checkJson) : texts.join('\n'), attachments};
}

/**
 * Parses a text that is a JSON object or array. Other texts stay text: `007` and `true` may be plain words.
 */
function parseText(text: string, checkJson: (text: string) => void): unknown {
	if (!/^[{[]/.test(text)) return text;
	checkJson(text);
	try {
		return parseWithBigInts(text);
	} catch {
		return text;
	}
}

function contentText(part: unknown): string {
	const {type, text, data, mimeType, uri, resource} = asObject(part);
	if (typeof text === 'string') return text;
	if (type === 'resource_link') return String(uri);
	if (type === 'resource') {
		const {text: inner, blob, mimeType: kind, uri: from} = asObject(resource);
		return typeof inner === 'string' ? inner : `[${kind ?? 'binary'} ${from}, ${sizeOf(blob)} bytes]`;
	}
	return data === undefined ? `[${type ?? 'unknown'}]` : `[${mimeType ?? type}, ${sizeOf(data)} bytes]`;
}

const sizeOf = (base64: unknown): number =>
	typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0;

function parseAttachment(part: unknown): ContentPart[] {
	const {type, data, mimeType} = asObject(part);
	const isMedia = (type === 'image' || type === 'audio') && typeof data === 'string';
	return isMedia ? [{type, data, mimeType: String(mimeType ?? 'application/octet-stream')}] : [];
}

/** Renders a value for people: text as it is, other values as JSON. */
export const renderValue = (value: unknown): string =>
	typeof value === 'string' ? value : toPythonJson(value);

/** Serializes JSON like Python, which formats exponents differently from `JSON.stringify`. */
function toPythonJson(value: unknown): string {
	if (typeof value === 'number') return formatNumber(value);
	if (typeof value === 'bigint') return String(value);
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
	if (Array.isArray(value)) return `[${value.map(toPythonJson).join(',')}]`;
	return `{${Object.entries(value)
		.map(([key, item]) => `${JSON.stringify(key)}:${toPythonJson(item)}`)
		.join(',')}}`;
}

function formatNumber(value: number): string {
	const isTiny = value !== 0 && Math.abs(value) < 1e-4;
	const text = isTiny ? value.toExponential() : (JSON.stringify(value) ?? 'null');
	return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
