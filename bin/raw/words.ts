import {statSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {type Rule, ruleOf} from '../../lib/control/rule.js';
import {BridgeError} from '../../lib/errors.js';
import {checkFormat} from '../../lib/store/file-name.js';
import {NeedsHelp} from '../cli/command.js';
import type {Values} from '../cli/option.js';
import type {options} from '../commands/raw.js';
import {invalid} from '../common/values.js';

/** What `bridge raw` was told. */
export type RawWords = {
	readonly rules: readonly Rule[];
	/** Where to log; null is stdout. */
	readonly directory: string | null;
	readonly format: string | undefined;
};

/** Reads rules and @DIR, which may stand in any order. */
export function readRaw(words: readonly string[], flags: Values<typeof options>): RawWords {
	const {mcpPort, mcpToken, logRoot, filenameFormat} = flags;
	const folders = words.filter(word => word.startsWith('@'));
	const rules = words.filter(word => !word.startsWith('@')).map(rule);
	const {log = folders[0]} = flags;
	if (folders.length + (flags.log === undefined ? 0 : 1) > 1)
		throw invalid('There are several places to log to.', 'Name one @LOG_DIRECTORY.');
	if (log === '@') throw invalid('There is no name behind the @.', 'Write @LOG_DIRECTORY, like @./logs');
	const {directory, format = filenameFormat} = placeOf(log);
	if (rules.length === 0 && mcpPort === undefined)
		throw new NeedsHelp(
			directory === null
				? 'There is nothing to do.'
				: `${log} is a place to log to, and there is nothing to log.`,
			'Give a PORT_RULE, or --mcp-port.',
		);
	if (mcpPort === undefined && (mcpToken ?? logRoot) !== undefined)
		throw invalid('--mcp-token and --log-root are for the control server.', 'Add --mcp-port PORT.');
	if (filenameFormat !== undefined && !log?.startsWith('@'))
		throw invalid('--filename-format needs a folder to name files in.', 'Add @LOG_DIRECTORY.');
	if (format !== undefined) checkFormat(format);
	return {rules, directory, format};
}

/** Where to log. A single file is a folder in which all files have that name. */
function placeOf(log: string | undefined): {directory: string | null; format?: string} {
	if (log === undefined || log === '-') return {directory: null};
	if (log.startsWith('@')) return {directory: log.slice(1)};
	if (statSync(log, {throwIfNoEntry: false})?.isDirectory())
		throw invalid(`${log} is a folder.`, `To log to files in it, write @${log}`);
	return {directory: dirname(log), format: basename(log).replaceAll('%', '%%')};
}

function rule(text: string): Rule {
	try {
		return ruleOf(text);
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		throw new NeedsHelp(error.message, error.remedy);
	}
}
