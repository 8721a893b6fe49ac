const sizes = new Map<string, number>([
	...([
		['', 1],
		['b', 1],
		['kb', 1e3],
		['mb', 1e6],
		['gb', 1e9],
	] as const),
	...([
		['kib', 2 ** 10],
		['mib', 2 ** 20],
		['gib', 2 ** 30],
	] as const),
]);

const durations = new Map<string, number>([
	['ms', 1],
	['', 1000],
	['s', 1000],
	['m', 60_000],
	['h', 3_600_000],
	['d', 86_400_000],
]);

/** Delays of Node's timers must be below this. */
export const MAX_TIMER_MS = 2 ** 31;

/** Parses a size such as `1000`, `64KiB` or `256MiB` into bytes. */
export const parseSize = (text: string): number | undefined => {
	const value = parseQuantity(text, sizes);
	return value === undefined ? undefined : Math.round(value);
};

/** Parses a duration such as `90s`, `30m` or `1.5h` into milliseconds. The default unit is seconds. */
export const parseDuration = (text: string): number | undefined => {
	const value = parseQuantity(text, durations);
	return value !== undefined && value < MAX_TIMER_MS ? value : undefined;
};

function parseQuantity(text: string, units: ReadonlyMap<string, number>): number | undefined {
	const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text) ?? [];
	const factor = units.get(unit.toLowerCase());
	return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

export type RateLimit = {readonly count: number; readonly windowMs: number};

/** Parses a rate such as `10/s`, `600/m` or `5000/h`. */
export const parseRate = (text: string): RateLimit | undefined => {
	const [, count = '0', unit = ''] = /^(\d{1,7})\s*\/\s*([smh])$/.exec(text) ?? [];
	const windowMs = durations.get(unit);
	return windowMs === undefined || Number(count) === 0 ? undefined : {count: Number(count), windowMs};
};
