import {existsSync} from 'node:fs';
import {resolve} from 'node:path';
import process from 'node:process';
import {
	type ClientEntry,
	clientConfigPath,
	type InstallableClient,
	installableClients,
	parseClientFile,
	setClientEntry,
	unusedEntryName,
} from '../../lib/admin/install/client-entry.js';
import {createSecretHider} from '../../lib/admin/install/hide-secrets.js';
import {type CommandWords, ownCommand, sharedCommand} from '../../lib/admin/install/own-command.js';
import {unwrapServers, wrapServers} from '../../lib/admin/install/wrap-servers.js';
import {loadConfig} from '../../lib/config/load-config.js';
import {redactUrl} from '../../lib/config/redact.js';
import {slugify} from '../../lib/config/server-names.js';
import {isSafeName} from '../../lib/serve/names.js';
import {didYouMean} from '../../lib/util/did-you-mean.js';
import {isLoopback} from '../../lib/util/loopback.js';
import {printable} from '../../lib/util/printable.js';
import {type CliContext, defineCommand} from '../shared/cli/command.js';
import {booleanFlag, type Options, type OptionValues} from '../shared/cli/option.js';
import {serveOptions, urlOptions} from '../shared/cli/options.js';
import {usageError} from '../shared/flag-values.js';
import {hubConfigFile, NAMED_FILE_WARNING} from '../shared/hub-file.js';
import {localAccess} from '../shared/local-access.js';
import {printNotice, writeText} from '../shared/output.js';
import {confirmAndWrite, readClientFile} from './install/client-file.js';

const print = (text: string): Promise<void> => writeText(process.stdout, text);

const options = {
	wrap: booleanFlag('adds bridge -- in front of each configured command'),
	unwrap: booleanFlag('removes it'),
	hub: booleanFlag('writes an entry for bridge hub'),
	url: {...urlOptions.url, summary: 'writes an entry for a gateway at this URL'},
	user: booleanFlag('uses the file of your user instead of the one for this folder'),
	yes: booleanFlag('writes without a prompt'),
	...serveOptions,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: "adds bridge to a client's configuration; --wrap: in front of its servers",
	usage: [
		[
			'bridge install CLIENT [NAME] [flags of bridge serve]',
			'an entry for bridge serve, called NAME [bridge]',
		],
		[
			'bridge install CLIENT [NAME] --hub [--config FILE]',
			'an entry for bridge hub, called NAME [bridge-hub]',
		],
		[
			'bridge install CLIENT [NAME] --url URL',
			'an entry for a gateway, called NAME [bridge-gateway, or\nbridge-SERVICE for a URL that ends in /mcp/SERVICE]',
		],
		['bridge install CLIENT --wrap', 'adds bridge -- in front of each configured command'],
		['bridge install CLIENT --unwrap', 'removes it'],
	],
	details: `CLIENT
  claude    .mcp.json here; with --user, ~/.claude.json (--wrap: its servers for you and for this folder)
  cursor    .cursor/mcp.json here; with --user, ~/.cursor/mcp.json
  vscode    .vscode/mcp.json here; with --user, the mcp.json of your profile
  codex     ~/.codex/config.toml, or in CODEX_HOME

The changes are shown and written after you confirm. Comments, other entries and other keys of an entry are preserved. A backup
of the old file is kept next to it. --identity, --team, --role, --model, --sandbox, --approval-policy and --config become part of the entry.
--wrap lists the entries that it skips: those with a url, and those that already run bridge.`,
	options,
	maxPositionals: 2,
	firstChoices: installableClients,
	examples: [
		'bridge install claude --wrap --user',
		'bridge install claude --identity arch --team my-team',
		'bridge install codex --url http://127.0.0.1:7411/mcp --yes',
	],
	exitCodes: '0 done, 1 not confirmed, 2 invalid arguments, or a file that cannot be changed, 130 Ctrl+C',
	run: ({positionals: words, options}, context) => install(words, options, context),
});

/** Changes a client's configuration after showing the changes and getting consent. */
async function install([client, name]: readonly string[], flags: Flags, program: Program): Promise<number> {
	const target = installableClients.find(each => each === client);
	if (!target) throw unknownClientError(client);
	rejectConflictingFlags(flags, name);
	if (name === 'hub' && !flags.hub && !flags.url)
		throw usageError(
			'The entry named hub would run bridge serve.',
			`For the hub, write: bridge install ${target} --hub`,
		);
	const {user, wrap, unwrap, url} = flags;
	const path = clientConfigPath(target, {cwd: process.cwd(), env: process.env, isForUser: user});
	const {own, warning} = bridgeCommandFor(target, user, program);
	const code = await (wrap || unwrap
		? rewriteCommands(target, path, flags, own)
		: writeEntry(target, path, {name, flags, bridgeCommand: own}));
	if (code === 0 && warning !== undefined && !unwrap && !url) await printNotice(warning);
	return code;
}

type Program = Pick<CliContext, 'script' | 'version'>;

/** Returns the command that starts this program. Files of a project need one that works on other machines. */
function bridgeCommandFor(client: InstallableClient, isForUser: boolean, {script, version}: Program) {
	if (client === 'codex' || isForUser) return {own: ownCommand(script), warning: undefined};
	const {command: own, warning} = sharedCommand(script, version);
	return {own, warning};
}

type EntryRequest = {
	readonly name: string | undefined;
	readonly flags: Flags;
	readonly bridgeCommand: CommandWords;
};

async function writeEntry(
	client: InstallableClient,
	path: string,
	{name: requestedName, flags, bridgeCommand}: EntryRequest,
): Promise<number> {
	if (requestedName !== undefined && !isSafeName(requestedName))
		throw usageError(`${requestedName} is not a valid server name.`, 'Use letters, digits, "_" and "-".');
	const {file, before} = await readClientFile(path);
	const {user, yes} = flags;
	const entry = await entryOf(flags, client, bridgeCommand);
	const name = requestedName ?? unusedEntryName(client, before, {file, base: defaultName(flags), entry});
	const secret = 'token' in entry ? entry.token : undefined;
	const after = setClientEntry(client, before, name, entry, file);
	if (after === before) {
		await print(`${file} already has this entry. Nothing was changed.\n`);
		return 0;
	}
	const hide = createSecretHider(parseClientFile(client, before, file), secret === undefined ? [] : [secret]);
	const next = client === 'claude' && !user ? projectNextStep : nextSteps[client];
	const code = await confirmAndWrite({file, before, after, hide, isConfirmed: yes, nextStep: next});
	if (code === 0 && secret !== undefined)
		await print('This file contains your token for X-Bridge-Token: do not share or commit it.\n');
	if (code === 0 && flags.hub && flags.config !== undefined) await print(`${NAMED_FILE_WARNING}\n`);
	return code;
}

/** Wraps or unwraps the commands of a client. */
async function rewriteCommands(
	client: InstallableClient,
	path: string,
	{wrap, yes}: Flags,
	bridgeCommand: CommandWords,
): Promise<number> {
	if (!existsSync(path))
		throw usageError(
			`${path} does not exist.`,
			'Choose another client, or use --user for the file of your user.',
		);
	const {file, before} = await readClientFile(path);
	const options = {client, file, cwd: process.cwd()};
	const {text, steps, skipped} = wrap
		? wrapServers(before, bridgeCommand, options)
		: unwrapServers(before, options);
	for (const entry of skipped) await print(`Skipped: ${printable(entry)}.\n`);
	if (steps.length === 0) {
		await print(`${file} has no command to ${wrap ? 'wrap' : 'unwrap'}. Nothing was changed.\n`);
		return 0;
	}
	const hide = createSecretHider(parseClientFile(client, before, file));
	return confirmAndWrite({
		file,
		before,
		after: text,
		steps,
		hide,
		isConfirmed: yes,
		nextStep: nextSteps[client],
	});
}

/** Claude Code asks for consent before it runs a file that may be part of a repository. */
const projectNextStep =
	'Restart Claude Code in this folder and confirm that you trust the file. Then /mcp shows it.';

const nextSteps: {readonly [client in InstallableClient]: string} = {
	claude: 'Restart Claude Code. Then /mcp shows it.',
	codex: 'Restart Codex to use it.',
	cursor: 'Cursor shows it in its settings, under MCP.',
	vscode: 'VS Code uses it at once. MCP: List Servers shows it.',
};

/** Rejects flags that exclude each other. */
function rejectConflictingFlags(flags: Flags, name: string | undefined): void {
	const {wrap, unwrap, hub, url, user, yes, ...serveFlags} = flags;
	const modes = [
		...(wrap ? ['--wrap'] : []),
		...(unwrap ? ['--unwrap'] : []),
		...(hub ? ['--hub'] : []),
		...(url ? ['--url'] : []),
	];
	if (modes.length > 1) throw usageError(`${modes.join(' and ')} exclude each other.`, 'Use one of them.');
	if (!wrap && !unwrap) return;
	if (Object.values(serveFlags).some(value => value !== undefined && value !== false))
		throw usageError(
			`${modes.join()} cannot be combined with --config or flags of bridge serve.`,
			'It changes existing commands only.',
		);
	if (name !== undefined)
		throw usageError(
			`Unexpected argument "${printable(name)}" for bridge install ${modes.join()}.`,
			`${modes.join()} changes all entries.`,
		);
}

/** The default name of an entry. Each kind has a different name, so that none replaces another. */
function defaultName({url, hub}: Flags): string {
	if (hub) return 'bridge-hub';
	if (!url) return 'bridge';
	const [, last, first] = /\/mcp\/([^/]+)\/?$|\/([^/]+)\/mcp\/?$/.exec(url.pathname) ?? [];
	const service = last ?? first;
	return `bridge-${(service && slugify(service)) || 'gateway'}`;
}

async function entryOf(
	flags: Flags,
	client: InstallableClient,
	bridgeCommand: CommandWords,
): Promise<ClientEntry> {
	const {url, config, hub} = flags;
	if (url) return gatewayEntry(url);
	if (hub) return hubEntry(flags, client, bridgeCommand);
	const [command, ...first] = bridgeCommand;
	const {identity, team, role, model, sandbox, approvalPolicy} = flags;
	const file = config === undefined ? undefined : resolve(config);
	const flagValues = Object.entries({
		config: file,
		team,
		identity,
		role,
		model,
		sandbox,
		'approval-policy': approvalPolicy,
	});
	const args = flagValues.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value]));
	return {command, args: [...first, 'serve', ...args], hasTurns: true};
}

async function gatewayEntry(url: URL): Promise<ClientEntry> {
	if (url.username || url.password)
		throw usageError(
			`${redactUrl(url)} contains credentials.`,
			'They would be readable in the file. Remove them from the URL.',
		);
	const access = isLoopback(url.hostname) ? await localAccess(process.env) : undefined;
	return {url: url.href, ...(access?.by === 'token' ? {token: access.token} : {})};
}

async function hubEntry(
	{config: configFile}: Flags,
	client: InstallableClient,
	bridgeCommand: CommandWords,
): Promise<ClientEntry> {
	const file = hubConfigFile(await loadConfig({named: configFile}), `bridge install ${client} --hub`);
	if (file === undefined)
		throw usageError(
			'No configuration file was found for the hub.',
			'Create one with bridge import > bridge.yaml, and use --config bridge.yaml.',
		);
	const [command, ...first] = bridgeCommand;
	return {command, args: [...first, 'hub', '--config', file]};
}

const unknownClientError = (client: string | undefined) =>
	usageError(
		client === undefined ? 'bridge install needs a client.' : `Unknown client "${client}".`,
		`${didYouMean(client ?? '', installableClients)} Write: bridge install ${installableClients.join('|')}`.trim(),
	);
