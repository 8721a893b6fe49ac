import {basename, dirname} from 'node:path';
import {expandVariables, missingVariable} from '../expand-variables.js';
import type {ConfigIssue, ConfigPath} from '../issues.js';
import type {ParsedText} from '../json-with-comments.js';
import {type FileExtension, MAX_CONFIG_VALUES, parseConfigText} from '../parse-text.js';
import type {ReadonlyPathMap} from '../path-map.js';
import {type AdaptClientFileOptions, adaptClientFile} from './adapt-client-file.js';
import {parseClaudeState, projectPaths} from './claude-state.js';
import {asTable, CLAUDE_STATE_FILE, detectClientFormat} from './client-format.js';
import {isDisabledServer, mergeEnvFiles} from './env-file.js';

/** The state file of Claude Code also contains the history of each project. */
const MAX_STATE_BYTES = 64 * 2 ** 20;

/** The size limit of a file; undefined for the default limit. */
export const maxConfigFileBytes = (file: string): number | undefined =>
	basename(file) === CLAUDE_STATE_FILE ? MAX_STATE_BYTES : undefined;

/** Parses a configuration file of bridge or of another client. */
export const parseConfigFile = (
	file: string,
	text: string,
	extension: FileExtension,
	cwd: string,
): ParsedText =>
	basename(file) === CLAUDE_STATE_FILE
		? parseClaudeState(text, projectPaths(cwd))
		: parseConfigText(text, extension, MAX_CONFIG_VALUES);

/** The values of a file in bridge's format, with variables expanded. */
type NormalizedConfig = {
	readonly value: unknown;
	/** The values before variables were expanded. */
	readonly literal: unknown;
	readonly issues: readonly ConfigIssue[];
	/** Their paths refer to the file itself. */
	readonly warnings: readonly ConfigIssue[];
	/** The variables that each value was made of, by path. */
	readonly variables: ReadonlyPathMap<readonly string[]>;
	/** Maps a path in `value` to the path in the file. */
	originalPath(path: ConfigPath): ConfigPath;
	/** The folder that relative paths in the file are resolved against. */
	readonly folder: string;
};

/** Converts a file of bridge or of another client to bridge's format and expands its variables. */
export async function normalizeConfig(
	value: unknown,
	options: Omit<AdaptClientFileOptions, 'format'>,
): Promise<NormalizedConfig> {
	const {file, environment} = options;
	const format = detectClientFormat(file, value);
	if (format === undefined) {
		const expanded = expandVariables(value, environment, missingVariable);
		return {...expanded, literal: value, warnings: [], originalPath: path => path, folder: dirname(file)};
	}
	const adapted = adaptClientFile(value, {...options, format});
	const {originalPath, folder} = adapted;
	const expanded = expandVariables(adapted.value, adapted.variables, adapted.describeMissing);
	const {servers, issues} = dropDisabledServers(expanded.value as typeof adapted.value, expanded.issues);
	const read = await mergeEnvFiles(servers, folder);
	const envFileWarnings = read.warnings.map(warning => ({
		...warning,
		path: originalPath(warning.path ?? []),
	}));
	return {
		originalPath,
		folder,
		literal: adapted.value,
		variables: expanded.variables,
		value: {servers: read.servers},
		issues: [...issues, ...read.issues],
		warnings: [...adapted.warnings, ...envFileWarnings],
	};
}

/** Keys whose values may be empty, so an unset variable in them does no harm. */
const emptiableKeys: readonly unknown[] = ['args', 'env', 'headers'];

type Servers = {readonly [name: string]: unknown};

/**
 * Removes the issues of disabled servers, where unset variables do not matter. Also removes disabled servers
 * whose other settings are incomplete without these variables.
 */
function dropDisabledServers(
	{servers}: {readonly servers: Servers},
	issues: readonly ConfigIssue[],
): {readonly servers: Servers; readonly issues: readonly ConfigIssue[]} {
	const disabled = new Set(Object.keys(servers).filter(name => isDisabledServer(asTable(servers[name]))));
	const belongsToDisabled = ({path = []}: ConfigIssue): boolean => disabled.has(String(path[1]));
	const incomplete = issues.filter(
		issue => belongsToDisabled(issue) && !emptiableKeys.includes(issue.path?.[2]),
	);
	const dropped = new Set(incomplete.map(({path}) => String(path?.[1])));
	return {
		servers: Object.fromEntries(Object.entries(servers).filter(([name]) => !dropped.has(name))),
		issues: issues.filter(issue => !belongsToDisabled(issue)),
	};
}
