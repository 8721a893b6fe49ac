import {homedir} from 'node:os';
import {relative} from 'node:path';
import process from 'node:process';
import {maxBytesOf, parseFile, understood} from '../clients/understand.js';
import type {Variables} from './expand.js';
import {findFile} from './find.js';
import {writable} from './folder-digest.js';
import {invalidFile, type Mistake, type Path, pathText} from './mistakes.js';
import {withLine} from './parse.js';
import {PathMap} from './path-map.js';
import {endingOf, readText} from './read.js';
import {resolveConfig} from './resolve.js';
import type {Config} from './schema.js';
import {literalSecret} from './secrets.js';
import {requireTrust, requireTrustedPacks} from './trust.js';
import {TrustStore} from './trust-store.js';
import {openToWriters} from './writers.js';

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
	/** Where the trust in the file is recorded; undefined where it needs none. */
	readonly trust: TrustStore | undefined;
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
	/** For commands that only show a file: use nothing of what is loaded this way. */
	readonly allowUntrusted?: boolean;
};

/** Finds, reads and understands the configuration. All that is wrong with it is told in one error. */
export async function loadConfig(options: LoadOptions = {}): Promise<Loaded> {
	const {named, environment = process.env, cwd = process.cwd(), home = homedir()} = options;
	const found = findFile({named, environment, cwd, home});
	if (found === undefined) {
		const {config} = resolveConfig({}, cwd);
		if (!config) throw new Error('The defaults are no configuration.');
		return {config, file: undefined, stamp: '', trust: undefined, warnings: [], source: () => undefined};
	}
	const needsTrust = found.needsTrust && !options.allowUntrusted;
	return loadFile(found.file, environment, {
		cwd,
		home,
		trust: needsTrust ? new TrustStore(environment, home) : undefined,
	});
}

export type FileOptions = {
	/** The folder that messages name the file from. */
	readonly cwd?: string;
	readonly home?: string;
	/** Where the file has to be recorded, if it needs trust. */
	readonly trust?: TrustStore | undefined;
};

/** Reads and understands one file. */
export async function loadFile(
	file: string,
	environment: Variables,
	{cwd = process.cwd(), home = homedir(), trust}: FileOptions = {},
): Promise<Loaded> {
	const shown = shownAs(file, cwd);
	const ending = endingOf(file, shown);
	const trustStamp = await trust?.stamp(file);
	const {text, stamp, isOpenToOthers, sha256, writers} = await readText(file, shown, maxBytesOf(file));
	if (trust && writers !== undefined) throw writable(file, writers);
	const entry = trust && (await requireTrust(trust, file, sha256));
	const parsed = parseFile(file, text, ending, cwd);
	if (parsed.mistakes.length > 0) throw invalidFile(shown, parsed.mistakes);
	const given = await understood(parsed.value, {file, cwd, home, environment});
	const placed = (mistake: Mistake): Mistake => {
		const path = mistake.path && given.original(mistake.path);
		return withLine({...mistake, ...(path && {path})}, parsed.lines);
	};
	const {config, mistakes, warnings} = resolveConfig(given.value, given.folder);
	const unset = new PathMap<true>();
	for (const {path = []} of given.mistakes) unset.set(path, true);
	// A value that is empty because its variable is not set is one mistake, not two.
	const others = mistakes.filter(({path = []}) => !unset.has(path));
	const all = [...given.mistakes, ...others].map(placed);
	if (!config || all.length > 0) throw invalidFile(shown, all);
	const packs = entry && config.packs !== undefined && (await requireTrustedPacks(entry, file, config.packs));
	const secret = isOpenToOthers ? literalSecret(given.literal) : undefined;
	const openly: Mistake[] = secret ? [{path: secret, text: OPEN}] : [];
	return {
		file,
		trust,
		stamp: withTrust(stamp, trustStamp),
		config: packs ? {...config, trustedPacks: packs} : config,
		warnings: [
			...given.warnings.map(warning => warningText(shown, warning)),
			...[...warnings, ...openly].map(warning => warningText(shown, placed(warning))),
			...(trust ? [] : await openToWriters(file, writers, config.packs)),
		],
		source: path =>
			has(given.value, path)
				? {line: parsed.lines.get(given.original(path)), variables: given.variables.get(path) ?? []}
				: undefined,
	};
}

const warningText = (shown: string, {path = [], text}: Mistake): string =>
	`${shown}: ${path.length > 0 ? `${pathText(path)}: ` : ''}${text}`;

/** The stamp of a file that needs trust changes with that, too. */
export const withTrust = (stamp: string, trustStamp: string | undefined): string =>
	trustStamp === undefined ? stamp : `${stamp} ${trustStamp}`;

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
