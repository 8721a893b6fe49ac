import {homedir} from 'node:os';
import process from 'node:process';
import {stringify} from 'yaml';
import {clientFiles, clientNames, type Importable, importable} from '../../lib/clients/files.js';
import {type Imported, importServers} from '../../lib/clients/import.js';
import {nearest} from '../../lib/nearest.js';
import {printable, printableLines} from '../../lib/printable.js';
import {defineCommand} from '../cli/command.js';
import {flag} from '../cli/option.js';
import {tell, write} from '../common/own-output.js';
import {invalid} from '../common/values.js';

export const command = defineCommand({
	summary: 'prints the servers of Claude, Codex, Cursor or VS Code as a bridge.yaml',
	usage: [['bridge import [claude|codex|cursor|vscode] [--with-secrets]']],
	details: `Without a client, the servers of all of them are printed. These files are read, if they exist:
  claude    ~/.claude.json (servers of the user and of this folder), .mcp.json, claude_desktop_config.json
  codex     ~/.codex/config.toml, .codex/config.toml
  cursor    ~/.cursor/mcp.json, .cursor/mcp.json
  vscode    mcp.json of your profile, .vscode/mcp.json

Secrets become variables, which stderr lists. Nothing is started or changed.`,
	options: {withSecrets: flag('copies secrets instead of replacing them by variables')},
	maxWords: 1,
	firstWords: importable,
	examples: ['bridge import claude > bridge.yaml && bridge config --check bridge.yaml'],
	exitCodes: '0 printed, 1 no servers were found, 2 wrong arguments, or a file that cannot be read',
	run: ({words: [named], options}) => printServers(named, options.withSecrets),
});

async function printServers(named: string | undefined, keepsSecrets: boolean): Promise<number> {
	const client = importable.find(each => each === named);
	if (named !== undefined && !client)
		throw invalid(
			`Unknown client "${named}".`,
			`${nearest(named, importable)} Write: bridge import [${importable.join('|')}]`.trim(),
		);
	const places = {cwd: process.cwd(), home: homedir(), env: process.env, platform: process.platform};
	const wanted: readonly Importable[] = client ? [client] : importable;
	const files = [...new Set(wanted.flatMap(each => clientFiles(each, places)))];
	const imported = await importServers(files, {...places, environment: process.env, keepsSecrets});
	for (const note of imported.notes) await tell(note);
	if (imported.servers.size === 0) {
		await tell(`No servers were found. These files are searched: ${files.join(', ')}.`);
		return 1;
	}
	await write(process.stdout, yamlOf(imported, wanted));
	await tellOfVariables(imported, keepsSecrets);
	return 0;
}

function yamlOf({servers, files}: Imported, clients: readonly Importable[]): string {
	const names = clients.map(client => clientNames[client]).join(', ');
	const head = [`Servers of ${names}, printed by bridge import from:`, ...files.map(file => `  ${file}`)];
	return `${head.map(line => `# ${printable(line)}\n`).join('')}${safeYaml({servers: Object.fromEntries(servers)})}`;
}

/** YAML without characters that a terminal would obey: they are escaped, which needs quotes around all texts. */
function safeYaml(value: unknown): string {
	const yaml = stringify(value, {lineWidth: 0});
	if (printableLines(yaml) === yaml) return yaml;
	return printableLines(stringify(value, {lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE'}));
}

async function tellOfVariables({hidden, variables}: Imported, keepsSecrets: boolean): Promise<void> {
	const list = (rows: ReadonlyArray<readonly [string, string]>): string =>
		rows.map(([name, place]) => `  ${printable(`${name.padEnd(24)} ${place}`.trimEnd())}\n`).join('');
	const places = hidden.map(({name, place}) => [name, place] as const);
	if (hidden.length > 0 && keepsSecrets)
		await write(
			process.stderr,
			`bridge: The output contains secrets. Keep the file readable for you alone (chmod 600 FILE):\n${list(hidden.map(({place}) => ['', place]))}`,
		);
	else if (hidden.length > 0)
		await write(
			process.stderr,
			`bridge: Secrets were replaced by variables. Set these before you use the file, or copy the secrets with --with-secrets:\n${list(places)}`,
		);
	if (variables.length > 0) await tell(`The file also uses these variables: ${variables.join(', ')}.`);
}
