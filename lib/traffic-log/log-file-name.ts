import {BridgeError} from '../core/errors.js';

/**
 * Returns the name of a log file for a time in microseconds since the epoch. The format may contain `%Y %m %d
 * %H %M %S %%`, in UTC.
 */
export function logFileName(format: string, at: number): string {
	const [date, time] = new Date(at / 1000).toISOString().split('T') as [string, string];
	const [year, month, day] = date.split('-');
	const [hour, minute, second] = time.split(/[:.]/);
	const values: {[letter: string]: string | undefined} = {
		Y: year,
		m: month,
		d: day,
		H: hour,
		M: minute,
		S: second,
		'%': '%',
	};
	return format.replace(/%(.)/g, (_, letter: string) => values[letter] ?? letter);
}

/** The number of digits for each letter of the format. */
const digitCounts: ReadonlyMap<string, number> = new Map([
	['Y', 4],
	...['m', 'd', 'H', 'M', 'S'].map((letter): [string, number] => [letter, 2]),
]);

/** Whether a format results in this name at some time. */
export function matchesFileNameFormat(format: string, name: string): boolean {
	let at = 0;
	for (const [part] of format.matchAll(/%[^\n\r\u2028\u2029]|./gs)) {
		const letter = part.length > 1 ? part.slice(1) : undefined;
		const count = letter === undefined ? undefined : digitCounts.get(letter);
		const found = name.slice(at, at + (count ?? 1));
		if (count === undefined ? found !== (letter ?? part) : !isDigits(found, count)) return false;
		at += found.length;
	}
	return at === name.length;
}

const isDigits = (text: string, count: number): boolean => text.length === count && /^\d*$/.test(text);

/** Limit of common file systems. */
const MAX_NAME_BYTES = 255;

/** Rejects a format that does not name a file in the log folder. */
export function checkFileNameFormat(format: string): void {
	const name = logFileName(format, 0);
	if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw nameTooLong(name);
	if (name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)) return;
	const message = `The format ${JSON.stringify(format)} does not name a file in the log folder (--filename-format).`;
	throw new BridgeError('ERR_CONFIG_INVALID', message, 'Remove folders from it: they belong in @DIR.');
}

const nameTooLong = (name: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The format results in names of ${Buffer.byteLength(name)} bytes (--filename-format).`,
		`A name may have at most ${MAX_NAME_BYTES} bytes.`,
	);
