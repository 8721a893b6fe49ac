/** How far the clock on the wall is from the one that only runs forward, in milliseconds. */
let wallClockOffset = performance.timeOrigin;
/** They drift apart by less, unless somebody sets the one on the wall, or the machine was asleep. */
const DRIFT_MS = 2;
/** Looks at both that take longer were not taken together. */
const MAX_SAMPLING_MS = 0.5;
const MAX_ATTEMPTS = 100;
/** What the clock on the wall is corrected by does not put back what was told; that somebody sets it does. */
const MIN_BACKWARD_STEP_MICROS = 1_000_000;
let lastReturned = 0;

/** The time in microseconds since the epoch, by the clock on the wall. */
export function nowMicroseconds(): number {
	const elapsed = performance.now();
	if (hasDrifted(elapsed, Date.now())) synchronizeClocks();
	const at = Math.round((wallClockOffset + elapsed) * 1000);
	if (at >= lastReturned || lastReturned - at > MIN_BACKWARD_STEP_MICROS) lastReturned = at;
	return lastReturned;
}

const hasDrifted = (elapsed: number, now: number): boolean =>
	Math.abs(wallClockOffset + elapsed - now) > DRIFT_MS;

/** Compares the clocks. Who was made to wait between the two looks would take one of them for set. */
function synchronizeClocks(): void {
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		const before = performance.now();
		const now = Date.now();
		if (performance.now() - before > MAX_SAMPLING_MS) continue;
		if (hasDrifted(before, now)) wallClockOffset = now - before;
		return;
	}
}

/** UTC with six decimals: `2026-11-16T01:02:03.456789Z`. */
export const isoTime = (at: number): string => isoTimeBytes(at).toString('latin1');

const isoBytes = Buffer.from('1970-01-01T00:00:00.000000Z');
let isoSecond = 0;

/** The same as bytes, which are good until the next call. All but the decimals are written once a second. */
export function isoTimeBytes(at: number): Buffer {
	const seconds = Math.floor(at / 1e6);
	if (seconds !== isoSecond) {
		isoSecond = seconds;
		isoBytes.write(new Date(seconds * 1000).toISOString().slice(0, 20), 'latin1');
	}
	let rest = at - seconds * 1e6;
	for (let digit = 25; digit > 19; digit--) {
		const tenth = Math.floor(rest / 10);
		isoBytes[digit] = 0x30 + rest - tenth * 10;
		rest = tenth;
	}
	return isoBytes;
}
