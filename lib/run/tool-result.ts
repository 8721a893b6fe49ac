import {parseWithBigInts} from '../wire/bigint-json.js';
import {asObject} from './input-schema.js';
import {ProgramError, truncateMessage} from './program-error.js';
import type {ContentPart} from './types.js';

/** What a call gave: a value for the program, and what no program can use but a reader can look at. */
type ParsedToolResult = {readonly value: unknown; readonly attachments: readonly ContentPart[]};

/**
 * What a program sees of a tool's result. Structured content comes first; else a single text that is a JSON object or
 * array is that, and texts are joined by line feeds. An error of the tool is raised in the program. `checkJson` throws
 * for a text that is too much to parse.
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
			truncateMessage(text === '' ? 'The tool failed and did not say why.' : text),
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

/** A text that is an object or an array. Everything else stays text: `007` and `true` may be just that. */
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

/** A value as a reader gets it: text as it is, all else as JSON. */
export const renderValue = (value: unknown): string =>
	typeof value === 'string' ? value : toPythonJson(value);

/** JSON as Python writes it, which differs from `JSON.stringify` in small fractions alone. */
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
