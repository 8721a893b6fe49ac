import {BridgeError} from '../lib/errors.js';

const units = new Map<string, number>([
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

/** A number of bytes: `1000`, `64KiB`, `256MiB`. */
export function bytes(flag: string, text: string | undefined): number | undefined {
	if (text === undefined) return;
	const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text) ?? [];
	const factor = units.get(unit.toLowerCase());
	if (number !== undefined && factor !== undefined) return Math.round(Number(number) * factor);
	throw unreadable(flag, text, 'a size, like 256MiB');
}

/** A number of units that are `factor` milliseconds each. */
export function millis(flag: string, text: string | undefined, factor: number): number | undefined {
	if (text === undefined) return;
	const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) * factor : Number.NaN;
	// Node's timers hold no more than that.
	if (value < 2 ** 31) return value;
	throw unreadable(
		flag,
		text,
		factor === 1 ? 'a number of milliseconds' : 'a number of seconds, 0 for no limit',
	);
}

const unreadable = (flag: string, text: string, wanted: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', `--${flag} ${text} cannot be read.`, `It has to be ${wanted}.`);
