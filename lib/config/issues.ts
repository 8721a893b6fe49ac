import {BridgeError} from '../core/errors.js';
import {printable, shortened} from '../util/printable.js';

/** The path of a value in a configuration: keys and list indexes. */
export type ConfigPath = ReadonlyArray<string | number>;

/** An error or a warning about a configuration file. */
export type ConfigIssue = {
	/** Undefined for syntax errors. */
	readonly path?: ConfigPath;
	/** One-based; undefined if unknown. */
	readonly line?: number | undefined;
	readonly column?: number | undefined;
	/** One or two sentences that follow the location. */
	readonly text: string;
};

/** Formats a path as in `servers.legacy.args[0]`. */
export const formatPath = (path: ConfigPath): string =>
	path
		.map((key, index) =>
			typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${formatKey(key)}`,
		)
		.join('');

const formatKey = (key: string): string =>
	/^[\w$-]+$/.test(key) ? shortened(key) : printable(JSON.stringify(shortened(key)));

/** The number of issues that one error lists. */
const MAX_LISTED = 20;

const REMEDY = 'bridge config --help lists the keys.';

/** Combines all issues of a file into one error, sorted by line. */
export function invalidFileError(file: string, issues: readonly ConfigIssue[]): BridgeError {
	const sorted = issues.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
	const lines = sorted.slice(0, MAX_LISTED).map(issue => formatIssue(file, issue));
	if (sorted.length > MAX_LISTED)
		lines.push(`${file}: ${sorted.length - MAX_LISTED} more mistakes are not listed.`);
	const details = {file, mistakes: sorted.length};
	if (lines.length === 1) return new BridgeError('ERR_CONFIG_INVALID', lines.join(), REMEDY, details);
	const message = [`${file} has ${sorted.length} mistakes:`, ...lines, ''].join('\n');
	return new BridgeError('ERR_CONFIG_INVALID', message, REMEDY, details);
}

function formatIssue(file: string, {path = [], line, column, text}: ConfigIssue): string {
	const location = [file, line, column].filter(part => part !== undefined).join(':');
	return `${location}: ${path.length > 0 ? `${formatPath(path)}: ` : ''}${text}`;
}
