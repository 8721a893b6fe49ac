import {element, visibleLines} from './dom.js';
import {size} from './format.js';

/** So many bytes are shown; all of them can be saved. */
const MAX_SHOWN = 64 * 1024;
const WIDTH = 16;

/** The bytes that a text of raw data stands for: see the log's format. */
export function bytesOf(text: string): Uint8Array {
	const bytes = new Uint8Array(text.length);
	let end = 0;
	for (let at = 0; at < text.length; at++) {
		const digits = text[at] === '%' ? text.slice(at + 1, at + 3) : '';
		const isEscape = /^[\da-f]{2}$/i.test(digits);
		bytes[end++] = isEscape ? Number.parseInt(digits, 16) : text.charCodeAt(at) & 0xff;
		if (isEscape) at += 2;
	}
	return bytes.subarray(0, end);
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** Bytes as people look at them who look at bytes: where, which, and as text. */
export function hexLines(bytes: Uint8Array): string {
	const lines: string[] = [];
	for (let at = 0; at < bytes.length; at += WIDTH) {
		const part = [...bytes.subarray(at, at + WIDTH)];
		const numbers = part.map(byte => hex(byte, 2));
		const halves = `${numbers.slice(0, 8).join(' ')}  ${numbers.slice(8).join(' ')}`;
		const text = part.map(byte => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '·')).join('');
		lines.push(`${hex(at, 8)}  ${halves.padEnd(3 * WIDTH + 1)}  ${text}`);
	}
	return lines.join('\n');
}

/** Raw data, as text and as hexadecimal numbers. */
export function bytesShown(data: string): HTMLElement {
	const all = bytesOf(data);
	const bytes = all.subarray(0, MAX_SHOWN);
	const text = new TextDecoder().decode(bytes);
	const note =
		all.length > MAX_SHOWN
			? element('p', {class: 'cut'}, `The first ${size(MAX_SHOWN)} of ${size(all.length)} are shown.`)
			: undefined;
	return element(
		'div',
		{},
		note,
		element('h3', {}, 'Text'),
		element(
			'div',
			{class: 'side'},
			element('pre', {class: 'raw'}, visibleLines(text.replaceAll('\r\n', '\n'))),
		),
		element('h3', {}, 'Hex'),
		element('div', {class: 'side'}, element('pre', {class: 'hex'}, hexLines(bytes))),
	);
}
