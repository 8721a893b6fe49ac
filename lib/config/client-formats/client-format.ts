import {basename, dirname} from 'node:path';
import {configFileNames} from '../find-file.js';
import {bridgeKeys} from '../schema.js';
import {isObjectOrArray} from '../validate.js';

/** The file format of another MCP client: JSON with `mcpServers` or `servers`, or the TOML of Codex. */
export type ClientFormat = 'json' | 'codex';

/** The state file of Claude Code. It contains the servers of the user and of projects. */
export const CLAUDE_STATE_FILE = '.claude.json';
export const CLAUDE_DESKTOP_FILE = 'claude_desktop_config.json';

/**
 * Returns the format of a client's file by its name and keys, or undefined for a bridge file. A file with a
 * key that only bridge uses, like `listen`, is a bridge file unless its name belongs to a client.
 */
export function detectClientFormat(file: string, value: unknown): ClientFormat | undefined {
	const [name, folder] = [basename(file), basename(dirname(file))];
	const ending = name.slice(name.lastIndexOf('.')).toLowerCase();
	if (configFileNames.includes(name) || !isObjectOrArray(value)) return;
	if (ending === '.toml')
		return isTable(value.mcp_servers) || (folder === '.codex' && name === 'config.toml')
			? 'codex'
			: undefined;
	if (ending !== '.json') return;
	if (name === CLAUDE_STATE_FILE || name === CLAUDE_DESKTOP_FILE) return 'json';
	if (Object.keys(value).some(key => bridgeKeys.has(key))) return;
	return hasServers(value, name, folder) ? 'json' : undefined;
}

function hasServers(value: Table, name: string, folder: string): boolean {
	const [ofClaude, ofVsCode] = [isTable(value.mcpServers), isTable(value.servers)];
	if (ofClaude || ofVsCode)
		return ofClaude !== ofVsCode && (ofClaude || name === 'mcp.json' || Array.isArray(value.inputs));
	return folder === '.vscode' || folder === '.cursor' || isTable(value.projects);
}

type Table = {readonly [key: string]: unknown};

export const isTable = (value: unknown): value is Table => isObjectOrArray(value) && !Array.isArray(value);

/** Returns a table as is, and an empty table for any other value. */
export const asTable = (value: unknown): Table => (isTable(value) ? value : {});
