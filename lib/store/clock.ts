/** How far the clock on the wall is from the one that only runs forward, in milliseconds. */
let offset = performance.timeOrigin;
/** They drift apart by less, unless somebody sets the one on the wall, or the machine was asleep. */
const DRIFT_MS = 2;

/** The time in microseconds since the epoch, by the clock on the wall. */
export function microseconds(): number {
	const elapsed = performance.now();
	const now = Date.now();
	if (Math.abs(offset + elapsed - now) > DRIFT_MS) offset = now - elapsed;
	return Math.round((offset + elapsed) * 1000);
}

/** UTC with six decimals: `2026-11-16T01:02:03.456789Z`. */
export const isoTime = (at: number): string => stamp(at).toString('latin1');

const bytes = Buffer.from('1970-01-01T00:00:00.000000Z');
let second = 0;

/** The same as bytes, which are good until the next call. All but the decimals are written once a second. */
export function stamp(at: number): Buffer {
	const seconds = Math.floor(at / 1e6);
	if (seconds !== second) {
		second = seconds;
		bytes.write(new Date(seconds * 1000).toISOString().slice(0, 20), 'latin1');
	}
	let rest = at - seconds * 1e6;
	for (let digit = 25; digit > 19; digit--) {
		const tenth = Math.floor(rest / 10);
		bytes[digit] = 0x30 + rest - tenth * 10;
		rest = tenth;
	}
	return bytes;
}
