import {realpath} from 'node:fs/promises';
import {resolve} from 'node:path';
import {FileRejectedError, readRegularTextFile} from '../../files/read-regular-file.js';
import type {ConfigIssue, ConfigPath} from '../issues.js';
import {asTable, isTable} from './client-format.js';
import {ENV_FILE} from './json-server.js';

/** Limits of an env file. */
const MAX_BYTES = 256 * 1024;
const MAX_LINES = 2000;

type Table = {readonly [key: string]: unknown};

/**
 * Merges the variables of each server's `envFile` into its `env`, which wins. Files of disabled servers are
 * not read.
 */
export async function mergeEnvFiles(
	servers: Table,
	folder: string,
): Promise<{servers: Table; issues: ConfigIssue[]; warnings: ConfigIssue[]}> {
	const issues: ConfigIssue[] = [];
	const warnings: ConfigIssue[] = [];
	const entries: Array<[string, unknown]> = [];
	for (const [name, server] of Object.entries(servers)) {
		if (!isTable(server) || server[ENV_FILE] === undefined) {
			entries.push([name, server]);
			continue;
		}
		const {[ENV_FILE]: file, ...rest} = server;
		const path: ConfigPath = ['servers', name, ENV_FILE];
		const read = isDisabledServer(rest) ? {variables: {}} : await readEnvFile(file, folder);
		if ('reason' in read) issues.push({path, text: read.reason});
		else if (read.warning) warnings.push({path, text: read.warning});
		const variables = 'variables' in read ? read.variables : {};
		entries.push([name, {...rest, env: {...variables, ...asTable(rest.env)}}]);
	}
	return {servers: Object.fromEntries(entries), issues, warnings};
}

export const isDisabledServer = ({enabled, disabled}: Table): boolean =>
	String(enabled) === 'false' || String(disabled) === 'true';

type EnvFileResult = {readonly variables: Table; readonly warning?: string} | {readonly reason: string};

/** Reads an env file. A relative path is resolved against `folder`. */
export async function readEnvFile(file: unknown, folder: string): Promise<EnvFileResult> {
	if (typeof file !== 'string' || file === '') return {reason: 'Expected the path of a file.'};
	try {
		const text = await readRegularTextFile(await realpath(resolve(folder, file)), MAX_BYTES);
		if (text !== undefined) return parseEnvFile(text);
	} catch (error) {
		const {code, message} = error as NodeJS.ErrnoException;
		if (error instanceof FileRejectedError) return {reason: `The file cannot be read: ${message}.`};
		if (code !== 'ENOENT') return {reason: `The file cannot be read (${code ?? message}).`};
	}
	return {reason: 'There is no such file. Create it, or remove this key.'};
}

/**
 * Parses lines of `KEY=VALUE`. Skips blank lines and lines that start with `#`, and removes quotes around
 * values.
 */
export function parseEnvFile(text: string): EnvFileResult {
	const lines = text.split(/\r?\n/);
	if (lines.length > MAX_LINES) return {reason: `The file has more than ${MAX_LINES} lines.`};
	const variables = new Map<string, string>();
	const invalidLines: number[] = [];
	for (const [index, line] of lines.entries()) {
		const trimmed = line.replace(/^\uFEFF/, '').trim();
		if (trimmed === '' || trimmed.startsWith('#')) continue;
		const [, name, value = ''] = /^(?:export\s+)?([A-Za-z_][\w.-]*)\s*=(.*)$/.exec(trimmed) ?? [];
		if (name === undefined) invalidLines.push(index + 1);
		else variables.set(name, unquoted(value.trim()));
	}
	const notice = `Lines that are not KEY=VALUE are ignored: ${invalidLines.slice(0, 5).join(', ')}.`;
	return {variables: Object.fromEntries(variables), ...(invalidLines.length > 0 ? {warning: notice} : {})};
}

function unquoted(value: string): string {
	const [quote] = value;
	const end = quote === '"' || quote === "'" ? value.indexOf(quote, 1) : -1;
	if (end > 0) return quote === '"' ? value.slice(1, end).replaceAll('\\n', '\n') : value.slice(1, end);
	const comment = value.indexOf(' #');
	return comment === -1 ? value : value.slice(0, comment).trimEnd();
}
