/** How far the clock on the wall is from the one that only runs forward, in milliseconds. */
let offset = performance.timeOrigin;
/** They drift apart by less, unless somebody sets the one on the wall, or the machine was asleep. */
const DRIFT_MS = 2;
/** Looks at both that take longer were not taken together. */
const TOGETHER_MS = 0.5;
const MAX_LOOKS = 100;
/** What the clock on the wall is corrected by does not put back what was told; that somebody sets it does. */
const CORRECTION_MICROS = 1_000_000;
let latest = 0;

/** The time in microseconds since the epoch, by the clock on the wall. */
export function microseconds(): number {
	const elapsed = performance.now();
	if (isOff(elapsed, Date.now())) compare();
	const at = Math.round((offset + elapsed) * 1000);
	if (at >= latest || latest - at > CORRECTION_MICROS) latest = at;
	return latest;
}

const isOff = (elapsed: number, now: number): boolean => Math.abs(offset + elapsed - now) > DRIFT_MS;

/** Compares the clocks. Who was made to wait between the two looks would take one of them for set. */
function compare(): void {
	for (let look = 0; look < MAX_LOOKS; look++) {
		const before = performance.now();
		const now = Date.now();
		if (performance.now() - before > TOGETHER_MS) continue;
		if (isOff(before, now)) offset = now - before;
		return;
	}
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
