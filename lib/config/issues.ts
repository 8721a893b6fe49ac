import {BridgeError} from '../core/errors.js';
import {printable, shortened} from '../util/printable.js';

/** Where a value is in a configuration: keys, and positions in lists. */
export type ConfigPath = ReadonlyArray<string | number>;

/** Something in a file that has to be mended, and where. */
export type ConfigIssue = {
	/** None where the text is not even well-formed. */
	readonly path?: ConfigPath;
	/** From 1, where known. */
	readonly line?: number | undefined;
	readonly column?: number | undefined;
	/** A sentence or two, to be read after the place. */
	readonly text: string;
};

/** A path as people write it: `servers.legacy.args[0]`. */
export const formatPath = (path: ConfigPath): string =>
	path
		.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${formatKey(key)}`))
		.join('');

const formatKey = (key: string): string =>
	/^[\w$-]+$/.test(key) ? shortened(key) : printable(JSON.stringify(shortened(key)));

/** More than anybody mends in one go. */
const MAX_LISTED = 20;

const REMEDY = 'bridge config --help lists the keys.';

/** All mistakes of a file in one error, in the order of its lines. */
export function invalidFileError(file: string, issues: readonly ConfigIssue[]): BridgeError {
	const sorted = issues.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
	const lines = sorted.slice(0, MAX_LISTED).map(issue => formatIssue(file, issue));
	if (sorted.length > MAX_LISTED)
		lines.push(`${file}: there are ${sorted.length - MAX_LISTED} more mistakes.`);
	const details = {file, mistakes: sorted.length};
	if (lines.length === 1) return new BridgeError('ERR_CONFIG_INVALID', lines.join(), REMEDY, details);
	const message = [`${file} has ${sorted.length} mistakes:`, ...lines, ''].join('\n');
	return new BridgeError('ERR_CONFIG_INVALID', message, REMEDY, details);
}

function formatIssue(file: string, {path = [], line, column, text}: ConfigIssue): string {
	const location = [file, line, column].filter(part => part !== undefined).join(':');
	return `${location}: ${path.length > 0 ? `${formatPath(path)}: ` : ''}${text}`;
}
