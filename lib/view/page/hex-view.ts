import {element, showHiddenInLines} from './dom.js';
import {formatByteSize} from './format.js';

/** Maximum number of displayed bytes. Saving has no limit. */
const MAX_SHOWN_BYTES = 64 * 1024;
const BYTES_PER_LINE = 16;

/** Decodes the percent-encoded data of a log. */
function decodeDataText(text: string): Uint8Array {
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

/** Formats bytes as a hex dump: offset, hexadecimal values and ASCII text. */
function hexDump(bytes: Uint8Array): string {
	const lines: string[] = [];
	for (let at = 0; at < bytes.length; at += BYTES_PER_LINE) {
		const part = [...bytes.subarray(at, at + BYTES_PER_LINE)];
		const numbers = part.map(byte => hex(byte, 2));
		const halves = `${numbers.slice(0, 8).join(' ')}  ${numbers.slice(8).join(' ')}`;
		const text = part.map(byte => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '·')).join('');
		lines.push(`${hex(at, 8)}  ${halves.padEnd(3 * BYTES_PER_LINE + 1)}  ${text}`);
	}
	return lines.join('\n');
}

/** Shows raw data as text and as a hex dump. */
export function hexView(data: string): HTMLElement {
	const all = decodeDataText(data);
	const bytes = all.subarray(0, MAX_SHOWN_BYTES);
	const text = new TextDecoder().decode(bytes);
	const note =
		all.length > MAX_SHOWN_BYTES
			? element(
					'p',
					{class: 'cut'},
					`The first ${formatByteSize(MAX_SHOWN_BYTES)} of ${formatByteSize(all.length)} are shown.`,
				)
			: undefined;
	return element(
		'div',
		{},
		note,
		element('h3', {}, 'Text'),
		element(
			'div',
			{class: 'side'},
			element('pre', {class: 'raw'}, showHiddenInLines(text.replaceAll('\r\n', '\n'))),
		),
		element('h3', {}, 'Hex'),
		element('div', {class: 'side'}, element('pre', {class: 'hex'}, hexDump(bytes))),
	);
}
