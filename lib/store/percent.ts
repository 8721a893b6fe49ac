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
