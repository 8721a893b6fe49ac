import {homedir} from 'node:os';
import process from 'node:process';
import {stringify} from 'yaml';
import {
	clientFiles,
	clientNames,
	type ImportableClient,
	importableClients,
} from '../../lib/admin/import/client-files.js';
import {type ImportedServers, importServers} from '../../lib/admin/import/import-servers.js';
import {didYouMean} from '../../lib/util/did-you-mean.js';
import {printable, printableLines} from '../../lib/util/printable.js';
import {defineCommand} from '../shared/cli/command.js';
import {booleanFlag} from '../shared/cli/option.js';
import {usageError} from '../shared/flag-values.js';
import {printNotice, writeText} from '../shared/output.js';

export const command = defineCommand({
	summary: 'prints the servers of Claude, Codex, Cursor or VS Code as a bridge.yaml',
	usage: [['bridge import [claude|codex|cursor|vscode] [--with-secrets]']],
	details: `Without a client, the servers of all of them are printed. These files are read, if they exist:
  claude    ~/.claude.json (servers of the user and of this folder), .mcp.json, claude_desktop_config.json
  codex     ~/.codex/config.toml, .codex/config.toml
  cursor    ~/.cursor/mcp.json, .cursor/mcp.json
  vscode    mcp.json of your profile, .vscode/mcp.json

Secrets are replaced with variables, which are listed on stderr. Nothing is started or changed.`,
	options: {withSecrets: booleanFlag('copies secrets instead of replacing them with variables')},
	maxPositionals: 1,
	firstChoices: importableClients,
	examples: ['bridge import claude > bridge.yaml && bridge config --check bridge.yaml'],
	exitCodes: '0 printed, 1 no servers were found, 2 invalid arguments, or a file that cannot be read',
	run: ({positionals: [named], options}) => printServers(named, options.withSecrets),
});

async function printServers(clientName: string | undefined, keepsSecrets: boolean): Promise<number> {
	const client = importableClients.find(each => each === clientName);
	if (clientName !== undefined && !client)
		throw usageError(
			`Unknown client "${clientName}".`,
			`${didYouMean(clientName, importableClients)} Write: bridge import [${importableClients.join('|')}]`.trim(),
		);
	const locations = {cwd: process.cwd(), home: homedir(), env: process.env, platform: process.platform};
	const clients: readonly ImportableClient[] = client ? [client] : importableClients;
	const files = [...new Set(clients.flatMap(each => clientFiles(each, locations)))];
	const imported = await importServers(files, {...locations, environment: process.env, keepsSecrets});
	for (const note of imported.notes) await printNotice(note);
	if (imported.servers.size === 0) {
		await printNotice(`No servers were found. These files are searched: ${files.join(', ')}.`);
		return 1;
	}
	await writeText(process.stdout, yamlOf(imported, clients));
	await printVariables(imported, keepsSecrets);
	return 0;
}

function yamlOf({servers, files}: ImportedServers, clients: readonly ImportableClient[]): string {
	const names = clients.map(client => clientNames[client]).join(', ');
	const head = [`Servers of ${names}, printed by bridge import from:`, ...files.map(file => `  ${file}`)];
	return `${head.map(line => `# ${printable(line)}\n`).join('')}${safeYaml({servers: Object.fromEntries(servers)})}`;
}

/** Formats YAML without control characters. Escaping them requires quotes around all strings. */
function safeYaml(value: unknown): string {
	const yaml = stringify(value, {lineWidth: 0});
	if (printableLines(yaml) === yaml) return yaml;
	return printableLines(stringify(value, {lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE'}));
}

async function printVariables(
	{extractedSecrets, variables}: ImportedServers,
	keepsSecrets: boolean,
): Promise<void> {
	const list = (rows: ReadonlyArray<readonly [string, string]>): string =>
		rows.map(([name, path]) => `  ${printable(`${name.padEnd(24)} ${path}`.trimEnd())}\n`).join('');
	const hiddenRows = extractedSecrets.map(({name, path}) => [name, path] as const);
	if (extractedSecrets.length > 0 && keepsSecrets)
		await writeText(
			process.stderr,
			`bridge: The output contains secrets. Keep the file readable only by you (chmod 600 FILE):\n${list(extractedSecrets.map(({path}) => ['', path]))}`,
		);
	else if (extractedSecrets.length > 0)
		await writeText(
			process.stderr,
			`bridge: Secrets were replaced with variables. Set these before you use the file, or use --with-secrets to copy the secrets:\n${list(hiddenRows)}`,
		);
	if (variables.length > 0) await printNotice(`The file also uses these variables: ${variables.join(', ')}.`);
}
