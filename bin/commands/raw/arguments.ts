import {statSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {BridgeError} from '../../../lib/core/errors.js';
import {type PortRule, parsePortRule} from '../../../lib/raw/port-rule.js';
import {checkFileNameFormat} from '../../../lib/traffic-log/log-file-name.js';
import {ErrorWithHelp} from '../../shared/cli/command.js';
import type {OptionValues} from '../../shared/cli/option.js';
import {usageError} from '../../shared/flag-values.js';
import type {rawOptions} from '../raw.js';

/** The parsed arguments of `bridge raw`. */
type RawArguments = {
	readonly rules: readonly PortRule[];
	/** The log folder; null for stdout. */
	readonly directory: string | null;
	readonly format: string | undefined;
};

/** Parses rules and @DIR in any order. */
export function parseRawArguments(
	positionals: readonly string[],
	flags: OptionValues<typeof rawOptions>,
): RawArguments {
	const {mcpPort, mcpToken, logRoot, filenameFormat} = flags;
	const folders = positionals.filter(word => word.startsWith('@'));
	const rules = positionals.filter(word => !word.startsWith('@')).map(parseRule);
	const {log = folders[0]} = flags;
	if (folders.length + (flags.log === undefined ? 0 : 1) > 1)
		throw usageError('Several log destinations are set.', 'Use only one @LOG_DIRECTORY.');
	if (log === '@')
		throw usageError('The folder name after @ is missing.', 'Write @LOG_DIRECTORY, like @./logs');
	const {directory, format = filenameFormat} = parseLogTarget(log);
	if (rules.length === 0 && mcpPort === undefined)
		throw new ErrorWithHelp(
			directory === null
				? 'bridge raw needs a port rule.'
				: `${log} is a log destination, but there is no port rule to log.`,
			'Add a PORT_RULE or --mcp-port.',
		);
	if (mcpPort === undefined && (mcpToken ?? logRoot) !== undefined)
		throw usageError('--mcp-token and --log-root only apply to the control server.', 'Add --mcp-port PORT.');
	if (filenameFormat !== undefined && !log?.startsWith('@'))
		throw usageError('--filename-format needs a log folder.', 'Add @LOG_DIRECTORY.');
	if (format !== undefined) checkFileNameFormat(format);
	return {rules, directory, format};
}

/** Returns the log destination. A single file is a folder in which all files have that name. */
function parseLogTarget(log: string | undefined): {directory: string | null; format?: string} {
	if (log === undefined || log === '-') return {directory: null};
	if (log.startsWith('@')) return {directory: log.slice(1)};
	if (statSync(log, {throwIfNoEntry: false})?.isDirectory())
		throw usageError(`${log} is a folder.`, `To log to files in this folder, write @${log}`);
	return {directory: dirname(log), format: basename(log).replaceAll('%', '%%')};
}

function parseRule(text: string): PortRule {
	try {
		return parsePortRule(text);
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		throw new ErrorWithHelp(error.message, error.remedy);
	}
}
