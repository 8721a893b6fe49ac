/** The offset from the monotonic clock to the wall clock, in milliseconds. */
let wallClockOffset = performance.timeOrigin;
/** A larger drift means that the wall clock was set or the machine was asleep. */
const DRIFT_MS = 2;
/** Samples of both clocks that take longer are discarded. */
const MAX_SAMPLING_MS = 0.5;
const MAX_ATTEMPTS = 100;
/**
 * Smaller backward corrections of the wall clock are ignored, so that times stay monotonic. Larger ones mean
 * that the clock was set.
 */
const MIN_BACKWARD_STEP_MICROS = 1_000_000;
let lastReturned = 0;

/** The wall-clock time in microseconds since the epoch. */
export function nowMicroseconds(): number {
	const elapsed = performance.now();
	if (hasDrifted(elapsed, Date.now())) synchronizeClocks();
	const at = Math.round((wallClockOffset + elapsed) * 1000);
	if (at >= lastReturned || lastReturned - at > MIN_BACKWARD_STEP_MICROS) lastReturned = at;
	return lastReturned;
}

const hasDrifted = (elapsed: number, now: number): boolean =>
	Math.abs(wallClockOffset + elapsed - now) > DRIFT_MS;

/**
 * Updates the offset. A thread that is suspended between the samples would measure a wrong offset, so slow
 * samples are repeated.
 */
function synchronizeClocks(): void {
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		const before = performance.now();
		const now = Date.now();
		if (performance.now() - before > MAX_SAMPLING_MS) continue;
		if (hasDrifted(before, now)) wallClockOffset = now - before;
		return;
	}
}

/** Formats a time in UTC with six decimals: `2026-11-16T01:02:03.456789Z`. */
export const isoTime = (at: number): string => isoTimeBytes(at).toString('latin1');

const isoBytes = Buffer.from('1970-01-01T00:00:00.000000Z');
let isoSecond = 0;

/**
 * Formats a time as bytes, which are valid until the next call. All but the decimals are cached for a second.
 */
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
