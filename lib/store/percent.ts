const plain: string[] = [];
for (let byte = 0; byte < 256; byte++) {
	const isPrintable = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
	plain.push(
		isPrintable ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
	);
}
for (const space of Buffer.from('\t\r\n')) plain[space] = String.fromCharCode(space);

/** Any bytes as text: readable where they are ASCII, `%XX` where not. JSON escapes the rest. */
export const toPercentText = (bytes: Uint8Array): string => {
	let text = '';
	for (const byte of bytes) text += plain[byte];
	return text;
};

/** The longest that a byte can become. */
export const MAX_GROWTH = 3;

/** What each byte is in a JSON string, packed with the first of its characters lowest, and how many these are. */
const packed = new Uint32Array(256);
const lengths = new Uint8Array(256);
for (const [byte, text] of plain.entries()) {
	const escaped = JSON.stringify(text).slice(1, -1);
	lengths[byte] = escaped.length;
	for (let at = 0; at < escaped.length; at++)
		packed[byte] = (packed[byte] ?? 0) | (escaped.charCodeAt(at) << (8 * at));
}

/**
 * Writes bytes as what stands between the quotes of a JSON string of that text, and returns where it ends. There has to be
 * room for three times as many and two more: each byte is written as three, of which the next one overwrites what is not its own.
 */
export function writePercent(bytes: Uint8Array, into: Uint8Array, at: number): number {
	const {length} = bytes;
	let end = at;
	for (let index = 0; index < length; index++) {
		const byte = bytes[index] as number;
		const text = packed[byte] as number;
		into[end] = text;
		into[end + 1] = text >>> 8;
		into[end + 2] = text >>> 16;
		end += lengths[byte] as number;
	}
	return end;
}

const PERCENT = 0x25;

/** Text back into the bytes that it stands for. A percent sign that begins no escape is itself, and so is a plus. */
export function fromPercentText(text: string): Buffer {
	const bytes = Buffer.from(text, 'latin1');
	let end = bytes.indexOf(PERCENT);
	if (end === -1) return bytes;
	for (let at = end; at < bytes.length; at++) {
		const byte = bytes[at] as number;
		const value = byte === PERCENT ? hex(bytes[at + 1]) * 16 + hex(bytes[at + 2]) : Number.NaN;
		bytes[end++] = Number.isNaN(value) ? byte : value;
		if (!Number.isNaN(value)) at += 2;
	}
	return bytes.subarray(0, end);
}

/** The value of a digit, or NaN. */
function hex(char: number | undefined): number {
	if (char === undefined) return Number.NaN;
	if (char >= 0x30 && char <= 0x39) return char - 0x30;
	const letter = char | 0x20;
	return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
