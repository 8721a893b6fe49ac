import {homedir} from 'node:os';
import {relative} from 'node:path';
import process from 'node:process';
import {maxConfigFileBytes, normalizeConfig, parseConfigFile} from './client-formats/normalize-file.js';
import type {EnvironmentVariables} from './expand-variables.js';
import {findConfigFile} from './find-file.js';
import {writableByOthersError} from './folder-digest.js';
import {type ConfigIssue, type ConfigPath, formatPath, invalidFileError} from './issues.js';
import {withLine} from './parse-text.js';
import {PathMap} from './path-map.js';
import {extensionOf, readConfigText} from './read-file.js';
import {resolveConfig} from './resolve-config.js';
import type {Config} from './schema.js';
import {findLiteralSecret} from './secret-names.js';
import {requireTrust, requireTrustedPacks} from './trust.js';
import {TrustStore} from './trust-store.js';
import {writableFileWarnings} from './writable-files.js';

/** The origin of a value. */
type ValueSource = {
	/** One-based; undefined if unknown. */
	readonly line: number | undefined;
	readonly variables: readonly string[];
};

/** A configuration and the origins of its values. */
export type LoadedConfig = {
	readonly config: Config;
	/** The absolute path; undefined without a file, when all values are defaults. */
	readonly file: string | undefined;
	/** A version stamp that changes with the file. */
	readonly stamp: string;
	/** The store that records trust in the file; undefined if the file does not need trust. */
	readonly trust: TrustStore | undefined;
	/** Sentences for the log about settings that are valid but probably unintended. */
	readonly warnings: readonly string[];
	/** Returns the origin of the value at a path; undefined if the file does not set it. */
	source(path: ConfigPath): ValueSource | undefined;
};

type LoadConfigOptions = {
	/** The path in `--config`. */
	readonly named?: string | undefined;
	readonly environment?: EnvironmentVariables;
	readonly cwd?: string;
	readonly home?: string;
	/** Skips the trust check, for commands that only display a file and never act on its content. */
	readonly allowUntrusted?: boolean;
};

/** Finds, reads and validates the configuration. Reports all errors of the file at once. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
	const {named, environment = process.env, cwd = process.cwd(), home = homedir()} = options;
	const found = findConfigFile({named, environment, cwd, home});
	if (found === undefined) {
		const {config} = resolveConfig({}, cwd);
		if (!config) throw new Error('The default configuration is invalid.');
		return {config, file: undefined, stamp: '', trust: undefined, warnings: [], source: () => undefined};
	}
	const needsTrust = found.needsTrust && !options.allowUntrusted;
	return loadConfigFile(found.file, environment, {
		cwd,
		home,
		trust: needsTrust ? new TrustStore(environment, home) : undefined,
	});
}

type LoadFileOptions = {
	/** The folder that file names in messages are relative to. */
	readonly cwd?: string;
	readonly home?: string;
	/** The store in which the file must be recorded, if it needs trust. */
	readonly trust?: TrustStore | undefined;
};

/** Reads and validates one file. */
export async function loadConfigFile(
	file: string,
	environment: EnvironmentVariables,
	{cwd = process.cwd(), home = homedir(), trust}: LoadFileOptions = {},
): Promise<LoadedConfig> {
	const displayName = displayPath(file, cwd);
	const ending = extensionOf(file, displayName);
	const trustStamp = await trust?.stamp(file);
	const {text, stamp, isReadableByOthers, sha256, writers} = await readConfigText(
		file,
		displayName,
		maxConfigFileBytes(file),
	);
	if (trust && writers !== undefined) throw writableByOthersError(file, writers);
	const entry = trust && (await requireTrust(trust, file, sha256));
	const parsed = parseConfigFile(file, text, ending, cwd);
	if (parsed.issues.length > 0) throw invalidFileError(displayName, parsed.issues);
	const normalized = await normalizeConfig(parsed.value, {file, cwd, home, environment});
	const withLocation = (issue: ConfigIssue): ConfigIssue => {
		const path = issue.path && normalized.originalPath(issue.path);
		return withLine({...issue, ...(path && {path})}, parsed.lines);
	};
	const {config, issues, warnings} = resolveConfig(normalized.value, normalized.folder);
	const unsetPaths = new PathMap<true>();
	for (const {path = []} of normalized.issues) unsetPaths.set(path, true);
	// A value that is empty because its variable is not set is reported once, not twice.
	const others = issues.filter(({path = []}) => !unsetPaths.has(path));
	const all = [...normalized.issues, ...others].map(withLocation);
	if (!config || all.length > 0) throw invalidFileError(displayName, all);
	const packs = entry && config.packs !== undefined && (await requireTrustedPacks(entry, file, config.packs));
	const secret = isReadableByOthers ? findLiteralSecret(normalized.literal) : undefined;
	const readableSecrets: ConfigIssue[] = secret ? [{path: secret, text: READABLE_SECRET}] : [];
	return {
		file,
		trust,
		stamp: combineStamps(stamp, trustStamp),
		config: packs ? {...config, trustedPacks: packs} : config,
		warnings: [
			...normalized.warnings.map(warning => warningText(displayName, warning)),
			...[...warnings, ...readableSecrets].map(warning => warningText(displayName, withLocation(warning))),
			...(trust ? [] : await writableFileWarnings(file, writers, config.packs)),
		],
		source: path =>
			hasPath(normalized.value, path)
				? {
						line: parsed.lines.get(normalized.originalPath(path)),
						variables: normalized.variables.get(path) ?? [],
					}
				: undefined,
	};
}

const warningText = (displayName: string, {path = [], text}: ConfigIssue): string =>
	`${displayName}: ${path.length > 0 ? `${formatPath(path)}: ` : ''}${text}`;

/** Combines the stamps of a file and of its trust entry, so that a change to either is detected. */
export const combineStamps = (stamp: string, trustStamp: string | undefined): string =>
	trustStamp === undefined ? stamp : `${stamp} ${trustStamp}`;

const READABLE_SECRET =
	'This looks like a secret, and other users of this machine can read the file. Use a variable, or chmod 600.';

const hasPath = (value: unknown, [key, ...rest]: ConfigPath): boolean =>
	key === undefined ||
	(typeof value === 'object' &&
		value !== null &&
		Object.hasOwn(value, key) &&
		hasPath((value as {[key: string | number]: unknown})[key], rest));

/** Returns the path relative to `cwd` if the file is inside it. */
function displayPath(file: string, cwd: string): string {
	const path = relative(cwd, file);
	return path === '' || path.startsWith('..') ? file : path;
}
