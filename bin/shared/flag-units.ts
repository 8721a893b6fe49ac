import {BridgeError} from '../../lib/core/errors.js';
import {MAX_TIMER_MS, parseSize} from '../../lib/util/units.js';

/** Parses a size in bytes: `1000`, `64KiB`, `256MiB`. */
export function parseSizeFlag(flag: string, text: string | undefined): number | undefined {
	if (text === undefined) return;
	const size = parseSize(text);
	if (size !== undefined) return size;
	throw invalidValueError(flag, text, 'a size, like 256MiB');
}

/** Parses a time in units of `factor` milliseconds. */
export function parseTimeFlag(flag: string, text: string | undefined, factor: number): number | undefined {
	if (text === undefined) return;
	const isNumber = factor === 1 ? /^\d+$/.test(text) : /^\d+(\.\d+)?$/.test(text);
	const value = isNumber ? Number(text) * factor : Number.NaN;
	if (value < MAX_TIMER_MS) return value;
	throw invalidValueError(
		flag,
		text,
		factor === 1 ? 'a number of milliseconds' : 'a number of seconds, 0 for no limit',
	);
}

/** Parses a port; 0 selects any free port. */
export function parsePortFlag(flag: string, text: string | undefined): number | undefined {
	if (text === undefined) return;
	if (/^\d{1,5}$/.test(text) && Number(text) < 2 ** 16) return Number(text);
	throw invalidValueError(flag, text, 'a port, or 0 for any free port');
}

const invalidValueError = (flag: string, text: string, expected: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', `--${flag} ${text} is not valid.`, `Expected ${expected}.`);
