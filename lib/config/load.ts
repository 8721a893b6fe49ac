import {homedir} from 'node:os';
import {dirname, relative} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../errors.js';
import {expand, type Variables} from './expand.js';
import {findFile} from './find.js';
import {invalidFile, type Mistake, type Path, pathKey, pathText} from './mistakes.js';
import {type Ending, endings, parseText, withLine} from './parse.js';
import {readText} from './read.js';
import {resolveConfig} from './resolve.js';
import type {Config} from './schema.js';
import {literalSecret} from './secrets.js';

/** Where a value comes from. */
export type Source = {
	/** From 1, where known. */
	readonly line: number | undefined;
	readonly variables: readonly string[];
};

/** A configuration, and all that is known about where it is from. */
export type Loaded = {
	readonly config: Config;
	/** The absolute path; undefined where there is no file, and everything is as by default. */
	readonly file: string | undefined;
	/** Changes whenever the file does. */
	readonly stamp: string;
	/** Sentences for the log: nothing that is wrong, but something that may not be meant. */
	readonly warnings: readonly string[];
	/** Where the value at this path of the file comes from; undefined where the file has none. */
	source(path: Path): Source | undefined;
};

export type LoadOptions = {
	/** What `--config` named. */
	readonly named?: string | undefined;
	readonly environment?: Variables;
	readonly cwd?: string;
	readonly home?: string;
};

/** Finds, reads and understands the configuration. All that is wrong with it is told in one error. */
export async function loadConfig(options: LoadOptions = {}): Promise<Loaded> {
	const {named, environment = process.env, cwd = process.cwd(), home = homedir()} = options;
	const file = findFile({named, environment, cwd, home});
	if (file === undefined) {
		const {config} = resolveConfig({}, cwd);
		if (!config) throw new Error('The defaults are no configuration.');
		return {config, file, stamp: '', warnings: [], source: () => undefined};
	}
	return loadFile(file, environment, cwd);
}

/** Reads and understands one file, which messages name as seen from `cwd`. */
export async function loadFile(file: string, environment: Variables, cwd = process.cwd()): Promise<Loaded> {
	const shown = shownAs(file, cwd);
	const ending = endingOf(file, shown);
	const {text, stamp, isOpenToOthers} = await readText(file, shown);
	const parsed = parseText(text, ending);
	if (parsed.mistakes.length > 0) throw invalidFile(shown, parsed.mistakes);
	const lined = (mistake: Mistake): Mistake => withLine(mistake, parsed.lines);
	const expanded = expand(parsed.value, environment);
	const {config, mistakes, warnings} = resolveConfig(expanded.value, dirname(file));
	const unset = new Set(expanded.mistakes.map(({path = []}) => pathKey(path)));
	// What is empty because its variable is not set need not be told twice.
	const others = mistakes.filter(({path = []}) => !unset.has(pathKey(path)));
	const all = [...expanded.mistakes, ...others].map(lined);
	if (!config || all.length > 0) throw invalidFile(shown, all);
	const secret = isOpenToOthers ? literalSecret(parsed.value) : undefined;
	const openly: Mistake[] = secret ? [{path: secret, text: OPEN}] : [];
	return {
		...{config, file, stamp},
		warnings: [...warnings, ...openly].map(({path = [], text}) => `${shown}: ${pathText(path)}: ${text}`),
		source: path =>
			has(expanded.value, path)
				? {line: parsed.lines.get(pathKey(path)), variables: expanded.variables.get(pathKey(path)) ?? []}
				: undefined,
	};
}

const OPEN =
	'This looks like a secret, and other users of this machine can read the file. Use a variable, or chmod 600.';

const has = (value: unknown, [key, ...rest]: Path): boolean =>
	key === undefined ||
	(typeof value === 'object' &&
		value !== null &&
		Object.hasOwn(value, key) &&
		has((value as {[key: string | number]: unknown})[key], rest));

/** A path as seen from a folder, when it is in there. */
function shownAs(file: string, cwd: string): string {
	const path = relative(cwd, file);
	return path === '' || path.startsWith('..') ? file : path;
}

function endingOf(file: string, shown: string): Ending {
	const ending = endings.find(known => file.toLowerCase().endsWith(known));
	if (ending) return ending;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`${shown} does not say what it is written in.`,
		`Its name has to end in ${endings.join(', ')}.`,
	);
}
