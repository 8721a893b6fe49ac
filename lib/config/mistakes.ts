import {BridgeError} from '../errors.js';
import {printable, shortened} from '../printable.js';

/** Where a value is in a configuration: keys, and positions in lists. */
export type Path = ReadonlyArray<string | number>;

/** Something in a file that has to be mended, and where. */
export type Mistake = {
	/** None where the text is not even well-formed. */
	readonly path?: Path;
	/** From 1, where known. */
	readonly line?: number | undefined;
	readonly column?: number | undefined;
	/** A sentence or two, to be read after the place. */
	readonly text: string;
};

/** A path as people write it: `servers.legacy.args[0]`. */
export const pathText = (path: Path): string =>
	path
		.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${keyText(key)}`))
		.join('');

const keyText = (key: string): string =>
	/^[\w$-]+$/.test(key) ? shortened(key) : printable(JSON.stringify(shortened(key)));

/** More than anybody mends in one go. */
const MAX_TOLD = 20;

const REMEDY = 'bridge config --help lists the keys.';

/** All mistakes of a file in one error, in the order of its lines. */
export function invalidFile(file: string, mistakes: readonly Mistake[]): BridgeError {
	const sorted = mistakes.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
	const told = sorted.slice(0, MAX_TOLD).map(mistake => mistakeText(file, mistake));
	if (sorted.length > MAX_TOLD) told.push(`${file}: there are ${sorted.length - MAX_TOLD} more mistakes.`);
	const details = {file, mistakes: sorted.length};
	if (told.length === 1) return new BridgeError('ERR_CONFIG_INVALID', told.join(), REMEDY, details);
	const message = [`${file} has ${sorted.length} mistakes:`, ...told, ''].join('\n');
	return new BridgeError('ERR_CONFIG_INVALID', message, REMEDY, details);
}

function mistakeText(file: string, {path = [], line, column, text}: Mistake): string {
	const place = [file, line, column].filter(part => part !== undefined).join(':');
	return `${place}: ${path.length > 0 ? `${pathText(path)}: ` : ''}${text}`;
}
