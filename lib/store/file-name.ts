import {BridgeError} from '../errors.js';

/** The name of a log file at a time, in microseconds since the epoch: `%Y %m %d %H %M %S %%`, in UTC. */
export function fileName(format: string, at: number): string {
	const [date, time] = new Date(at / 1000).toISOString().split('T') as [string, string];
	const [year, month, day] = date.split('-');
	const [hour, minute, second] = time.split(/[:.]/);
	const values: {[letter: string]: string | undefined} = {
		...{Y: year, m: month, d: day, H: hour, M: minute, S: second},
		'%': '%',
	};
	return format.replace(/%(.)/g, (_, letter: string) => values[letter] ?? letter);
}

/** What file systems take. */
const MAX_NAME_BYTES = 255;

/** Refuses a format that would name anything but a file in the log's own folder. */
export function checkFormat(format: string): void {
	const name = fileName(format, 0);
	if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw tooLong(name);
	if (name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)) return;
	const message = `The format ${JSON.stringify(format)} does not name a file in the log folder (--filename-format).`;
	throw new BridgeError('ERR_CONFIG_INVALID', message, 'Leave folders out of it: they belong in @DIR.');
}

const tooLong = (name: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The format makes names of ${Buffer.byteLength(name)} bytes (--filename-format).`,
		`A name may have ${MAX_NAME_BYTES}.`,
	);
