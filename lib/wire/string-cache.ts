import {isOptimized} from '../util/optimizations.js';
import {stringAt} from './walk.js';

const isEnabled = isOptimized('string-cache');

const SLOTS = 128;
/** Longer strings are not cached. */
const MAX_BYTES = 64;

/** Caches repeated strings, such as method names, since decoding them each time costs more. */
export class StringCache {
	readonly #slots: Array<{readonly bytes: Buffer; readonly text: string} | undefined> = new Array(SLOTS).fill(
		undefined,
	);

	/** Returns the text of a string. The positions include its quotes. */
	get(bytes: Buffer, start: number, end: number): string {
		const length = end - start;
		if (length > MAX_BYTES || !isEnabled) return stringAt(bytes, start, end);
		const middle = (start + end) >> 1;
		const slot = (length * 31 + (bytes[middle] as number) * 7 + (bytes[end - 2] as number)) & (SLOTS - 1);
		const cached = this.#slots[slot];
		if (cached && cached.bytes.length === length && isSame(cached.bytes, bytes, start)) return cached.text;
		const text = stringAt(bytes, start, end);
		this.#slots[slot] = {bytes: Buffer.from(bytes.subarray(start, end)), text};
		return text;
	}
}

function isSame(cached: Buffer, bytes: Buffer, start: number): boolean {
	for (let at = 0; at < cached.length; at++) if (cached[at] !== bytes[start + at]) return false;
	return true;
}
