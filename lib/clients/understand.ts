import {basename, dirname} from 'node:path';
import {expand, missing} from '../config/expand.js';
import type {Parsed} from '../config/json-with-comments.js';
import type {Mistake, Path} from '../config/mistakes.js';
import {type Ending, MAX_VALUES, parseText} from '../config/parse.js';
import type {ReadonlyPathMap} from '../config/path-map.js';
import {type AdaptOptions, adapt} from './adapt.js';
import {parseClaudeState, projectPaths} from './claude-state.js';
import {isOff, withEnvFiles} from './env-file.js';
import {CLAUDE_STATE, clientFormat, tableOf} from './kind.js';

/** The state of Claude Code has the history of each project, too. */
const MAX_STATE_BYTES = 64 * 2 ** 20;

/** The length that a file may have; undefined for that of a configuration. */
export const maxBytesOf = (file: string): number | undefined =>
	basename(file) === CLAUDE_STATE ? MAX_STATE_BYTES : undefined;

/** Parses a configuration file, of bridge or of another client. */
export const parseFile = (file: string, text: string, ending: Ending, cwd: string): Parsed =>
	basename(file) === CLAUDE_STATE
		? parseClaudeState(text, projectPaths(cwd))
		: parseText(text, ending, MAX_VALUES);

/** The values of a file, as a file of bridge has them, with variables expanded. */
export type Understood = {
	readonly value: unknown;
	/** The same before variables were expanded. */
	readonly literal: unknown;
	readonly mistakes: readonly Mistake[];
	/** Their paths are those of the file itself. */
	readonly warnings: readonly Mistake[];
	/** The variables that a value was made of, by its path. */
	readonly variables: ReadonlyPathMap<readonly string[]>;
	/** The place in the file of the value with this path. */
	original(path: Path): Path;
	/** The folder that paths in the file are relative to. */
	readonly folder: string;
};

/** Expands the variables of a file, which is one of bridge or of another client. */
export async function understood(value: unknown, options: Omit<AdaptOptions, 'format'>): Promise<Understood> {
	const {file, environment} = options;
	const format = clientFormat(file, value);
	if (format === undefined) {
		const expanded = expand(value, environment, missing);
		return {...expanded, literal: value, warnings: [], original: path => path, folder: dirname(file)};
	}
	const adapted = adapt(value, {...options, format});
	const {original, folder} = adapted;
	const expanded = expand(adapted.value, adapted.variables, adapted.missing);
	const {servers, mistakes} = withoutUnused(expanded.value as typeof adapted.value, expanded.mistakes);
	const read = await withEnvFiles(servers, folder);
	const placed = read.warnings.map(warning => ({...warning, path: original(warning.path ?? [])}));
	return {
		original,
		folder,
		literal: adapted.value,
		variables: expanded.variables,
		value: {servers: read.servers},
		mistakes: [...mistakes, ...read.mistakes],
		warnings: [...adapted.warnings, ...placed],
	};
}

/** Keys whose values may be empty. */
const mayBeEmpty: readonly unknown[] = ['args', 'env', 'headers'];

type Servers = {readonly [name: string]: unknown};

/** Variables that are not set are not mistakes of a disabled server. It is left out if it cannot be described without them. */
function withoutUnused(
	{servers}: {readonly servers: Servers},
	mistakes: readonly Mistake[],
): {readonly servers: Servers; readonly mistakes: readonly Mistake[]} {
	const off = new Set(Object.keys(servers).filter(name => isOff(tableOf(servers[name]))));
	const isUnused = ({path = []}: Mistake): boolean => off.has(String(path[1]));
	const unclear = mistakes.filter(one => isUnused(one) && !mayBeEmpty.includes(one.path?.[2]));
	const left = new Set(unclear.map(({path}) => String(path?.[1])));
	return {
		servers: Object.fromEntries(Object.entries(servers).filter(([name]) => !left.has(name))),
		mistakes: mistakes.filter(one => !isUnused(one)),
	};
}
