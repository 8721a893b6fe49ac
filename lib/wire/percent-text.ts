const encodedBytes: string[] = [];
for (let byte = 0; byte < 256; byte++) {
	const isPrintable = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
	encodedBytes.push(
		isPrintable ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
	);
}
for (const space of Buffer.from('\t\r\n')) encodedBytes[space] = String.fromCharCode(space);

/** Encodes any bytes as text: ASCII as it is, other bytes as `%XX`. */
export const encodePercentText = (bytes: Uint8Array): string => {
	let text = '';
	for (const byte of bytes) text += encodedBytes[byte];
	return text;
};

const PERCENT = 0x25;

/**
 * Decodes percent-encoded text. A percent sign that does not start an escape stands for itself, and so does a
 * plus.
 */
export function decodePercentText(text: string): Buffer {
	const bytes = Buffer.from(text, 'latin1');
	let end = bytes.indexOf(PERCENT);
	if (end === -1) return bytes;
	for (let at = end; at < bytes.length; at++) {
		const byte = bytes[at] as number;
		const value =
			byte === PERCENT ? hexDigitValue(bytes[at + 1]) * 16 + hexDigitValue(bytes[at + 2]) : Number.NaN;
		bytes[end++] = Number.isNaN(value) ? byte : value;
		if (!Number.isNaN(value)) at += 2;
	}
	return bytes.subarray(0, end);
}

function hexDigitValue(char: number | undefined): number {
	if (char === undefined) return Number.NaN;
	if (char >= 0x30 && char <= 0x39) return char - 0x30;
	const letter = char | 0x20;
	return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
