import {parseExact} from '../wire/exact-integers.js';
import {cut, ProgramError} from './program-error.js';
import {members} from './schema.js';
import type {ContentPart} from './types.js';

/** What a call gave: a value for the program, and what no program can use but a reader can look at. */
export type Outcome = {readonly value: unknown; readonly attachments: readonly ContentPart[]};

/**
 * What a program sees of a tool's result. Structured content comes first; else a single text that is a JSON object or
 * array is that, and texts are joined by line feeds. An error of the tool is raised in the program. `checkJson` throws
 * for a text that is too much to parse.
 */
export function outcomeOf(result: unknown, checkJson: (text: string) => void = () => {}): Outcome {
	const {content, structuredContent, isError} = members(result);
	if (content === undefined && structuredContent === undefined)
		return {value: result ?? null, attachments: []};
	const parts = Array.isArray(content) ? content : [];
	if (isError === true) {
		const text = parts.map(textOf).join('\n');
		throw new ProgramError('ToolError', cut(text === '' ? 'The tool failed and did not say why.' : text));
	}
	const attachments = parts.flatMap(attachmentOf);
	if (structuredContent !== undefined && structuredContent !== null) {
		return {value: structuredContent, attachments};
	}
	if (parts.length === 0) return {value: null, attachments};
	const texts = parts.map(textOf);
	const [first = ''] = texts;
	return {value: texts.length === 1 ? parsed(first, checkJson) : texts.join('\n'), attachments};
}

/** A text that is an object or an array. Everything else stays text: `007` and `true` may be just that. */
function parsed(text: string, checkJson: (text: string) => void): unknown {
	if (!/^[{[]/.test(text)) return text;
	checkJson(text);
	try {
		return parseExact(text);
	} catch {
		return text;
	}
}

function textOf(part: unknown): string {
	const {type, text, data, mimeType, uri, resource} = members(part);
	if (typeof text === 'string') return text;
	if (type === 'resource_link') return String(uri);
	if (type === 'resource') {
		const {text: inner, blob, mimeType: kind, uri: from} = members(resource);
		return typeof inner === 'string' ? inner : `[${kind ?? 'binary'} ${from}, ${sizeOf(blob)} bytes]`;
	}
	return data === undefined ? `[${type ?? 'unknown'}]` : `[${mimeType ?? type}, ${sizeOf(data)} bytes]`;
}

const sizeOf = (base64: unknown): number =>
	typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0;

function attachmentOf(part: unknown): ContentPart[] {
	const {type, data, mimeType} = members(part);
	const isMedia = (type === 'image' || type === 'audio') && typeof data === 'string';
	return isMedia ? [{type, data, mimeType: String(mimeType ?? 'application/octet-stream')}] : [];
}

/** A value as a reader gets it: text as it is, all else as JSON. */
export const rendered = (value: unknown): string => (typeof value === 'string' ? value : json(value));

/** JSON as Python writes it, which differs from `JSON.stringify` in small fractions alone. */
function json(value: unknown): string {
	if (typeof value === 'number') return number(value);
	if (typeof value === 'bigint') return String(value);
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
	if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
	return `{${Object.entries(value)
		.map(([key, item]) => `${JSON.stringify(key)}:${json(item)}`)
		.join(',')}}`;
}

function number(value: number): string {
	const isTiny = value !== 0 && Math.abs(value) < 1e-4;
	const text = isTiny ? value.toExponential() : (JSON.stringify(value) ?? 'null');
	return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
