import {textOf} from './walk.js';

const SLOTS = 128;
/** Longer texts are not kept. */
const MAX_BYTES = 64;

/** The texts of strings that come again and again, as the names of methods do: to make them anew each time costs more. */
export class FrequentTexts {
	readonly #slots: Array<{readonly bytes: Buffer; readonly text: string} | undefined> = new Array(SLOTS).fill(
		undefined,
	);

	/** The text of the string between two positions that include its quotes. */
	text(bytes: Buffer, start: number, end: number): string {
		const length = end - start;
		if (length > MAX_BYTES) return textOf(bytes, start, end);
		const middle = (start + end) >> 1;
		const slot = (length * 31 + (bytes[middle] as number) * 7 + (bytes[end - 2] as number)) & (SLOTS - 1);
		const known = this.#slots[slot];
		if (known && known.bytes.length === length && isSame(known.bytes, bytes, start)) return known.text;
		const text = textOf(bytes, start, end);
		this.#slots[slot] = {bytes: Buffer.from(bytes.subarray(start, end)), text};
		return text;
	}
}

function isSame(known: Buffer, bytes: Buffer, start: number): boolean {
	for (let at = 0; at < known.length; at++) if (known[at] !== bytes[start + at]) return false;
	return true;
}
