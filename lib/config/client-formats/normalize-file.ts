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

/** The state of Claude Code has the history of each project, too. */
const MAX_STATE_BYTES = 64 * 2 ** 20;

/** The length that a file may have; undefined for that of a configuration. */
export const maxConfigFileBytes = (file: string): number | undefined =>
	basename(file) === CLAUDE_STATE_FILE ? MAX_STATE_BYTES : undefined;

/** Parses a configuration file, of bridge or of another client. */
export const parseConfigFile = (
	file: string,
	text: string,
	extension: FileExtension,
	cwd: string,
): ParsedText =>
	basename(file) === CLAUDE_STATE_FILE
		? parseClaudeState(text, projectPaths(cwd))
		: parseConfigText(text, extension, MAX_CONFIG_VALUES);

/** The values of a file, as a file of bridge has them, with variables expanded. */
type NormalizedConfig = {
	readonly value: unknown;
	/** The same before variables were expanded. */
	readonly literal: unknown;
	readonly issues: readonly ConfigIssue[];
	/** Their paths are those of the file itself. */
	readonly warnings: readonly ConfigIssue[];
	/** The variables that a value was made of, by its path. */
	readonly variables: ReadonlyPathMap<readonly string[]>;
	/** The place in the file of the value with this path. */
	originalPath(path: ConfigPath): ConfigPath;
	/** The folder that paths in the file are relative to. */
	readonly folder: string;
};

/** Expands the variables of a file, which is one of bridge or of another client. */
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
	const {servers, mistakes} = dropDisabledServers(expanded.value as typeof adapted.value, expanded.issues);
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
		issues: [...mistakes, ...read.mistakes],
		warnings: [...adapted.warnings, ...envFileWarnings],
	};
}

/** Keys whose values may be empty. */
const emptiableKeys: readonly unknown[] = ['args', 'env', 'headers'];

type Servers = {readonly [name: string]: unknown};

/** Variables that are not set are not mistakes of a disabled server. It is left out if it cannot be described without them. */
function dropDisabledServers(
	{servers}: {readonly servers: Servers},
	mistakes: readonly ConfigIssue[],
): {readonly servers: Servers; readonly mistakes: readonly ConfigIssue[]} {
	const disabled = new Set(Object.keys(servers).filter(name => isDisabledServer(asTable(servers[name]))));
	const isOfDisabled = ({path = []}: ConfigIssue): boolean => disabled.has(String(path[1]));
	const unclear = mistakes.filter(issue => isOfDisabled(issue) && !emptiableKeys.includes(issue.path?.[2]));
	const dropped = new Set(unclear.map(({path}) => String(path?.[1])));
	return {
		servers: Object.fromEntries(Object.entries(servers).filter(([name]) => !dropped.has(name))),
		mistakes: mistakes.filter(issue => !isOfDisabled(issue)),
	};
}
