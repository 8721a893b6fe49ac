import {existsSync} from 'node:fs';
import {resolve} from 'node:path';
import process from 'node:process';
import {isName} from '../../lib/atm/names.js';
import {hiddenUrl} from '../../lib/config/hide.js';
import {loadConfig} from '../../lib/config/load.js';
import {slugOf} from '../../lib/config/names.js';
import {localAccess} from '../../lib/http/local-access.js';
import {secretHider} from '../../lib/install/hide-secrets.js';
import {type Command, ownCommand, sharedCommand} from '../../lib/install/own-command.js';
import {
	type Entry,
	fileOf,
	freeName,
	type Installable,
	installable,
	parsed,
	withEntry,
} from '../../lib/install/targets.js';
import {unwrapAll, wrapAll} from '../../lib/install/wrap.js';
import {isLoopback} from '../../lib/loopback.js';
import {nearest} from '../../lib/nearest.js';
import {printable} from '../../lib/printable.js';
import {type Context, defineCommand} from '../cli/command.js';
import {flag, type Options, type Values} from '../cli/option.js';
import {serveOptions, urlOptions} from '../cli/options.js';
import {readClientFile, rewrite} from '../common/client-file.js';
import {hubFile, UNCHECKED} from '../common/hub-file.js';
import {tell, write} from '../common/own-output.js';
import {invalid} from '../common/values.js';

const print = (text: string): Promise<void> => write(process.stdout, text);

const options = {
	wrap: flag('puts bridge -- in front of each configured command'),
	unwrap: flag('removes it again'),
	hub: flag('writes an entry for bridge hub'),
	url: {...urlOptions.url, summary: 'writes an entry for a gateway at this URL'},
	user: flag('the file for you instead of the one for this folder'),
	yes: flag('writes without a prompt'),
	...serveOptions,
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: "writes bridge into a client's configuration; --wrap: in front of its servers",
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
		['bridge install CLIENT --wrap', 'puts bridge -- in front of each configured command'],
		['bridge install CLIENT --unwrap', 'removes it again'],
	],
	details: `CLIENT
  claude    .mcp.json here; with --user, ~/.claude.json (--wrap: its servers for you and for this folder)
  cursor    .cursor/mcp.json here; with --user, ~/.cursor/mcp.json
  vscode    .vscode/mcp.json here; with --user, the mcp.json of your profile
  codex     ~/.codex/config.toml, or where CODEX_HOME is

The changes are shown, and written once you agree. Comments, other entries and other keys of an entry stay; the old file is
kept beside the new one. --identity, --team, --role, --model, --sandbox, --approval-policy and --config become part of the entry.
--wrap lists the entries that it skips: those with a url, and those that run bridge already.`,
	options,
	maxWords: 2,
	firstWords: installable,
	examples: [
		'bridge install claude --wrap --user',
		'bridge install claude --identity arch --team my-team',
		'bridge install codex --url http://127.0.0.1:7411/mcp --yes',
	],
	exitCodes: '0 done, 1 you did not agree, 2 wrong arguments, or a file that cannot be changed, 130 Ctrl+C',
	run: ({words, options}, context) => install(words, options, context),
});

/** Changes a client's configuration, once the changes were shown and agreed to. */
async function install([client, name]: readonly string[], flags: Flags, program: Program): Promise<number> {
	const known = installable.find(each => each === client);
	if (!known) throw unknownClient(client);
	refuseContradictions(flags, name);
	if (name === 'hub' && !flags.hub && !flags.url)
		throw invalid(
			'The entry named hub would run bridge serve.',
			`For the hub, write: bridge install ${known} --hub`,
		);
	const {user, wrap, unwrap, url} = flags;
	const named = fileOf(known, {cwd: process.cwd(), env: process.env, isForUser: user});
	const {own, warning} = ownFor(known, user, program);
	const code = await (wrap || unwrap
		? runWrapping(known, named, flags, own)
		: runEntry(known, named, {name, flags, own}));
	if (code === 0 && warning !== undefined && !unwrap && !url) await tell(warning);
	return code;
}

type Program = Pick<Context, 'script' | 'version'>;

/** The command that starts this program: a file of a project is shared with other machines. */
function ownFor(client: Installable, isForUser: boolean, {script, version}: Program) {
	if (client === 'codex' || isForUser) return {own: ownCommand(script), warning: undefined};
	const {command: own, warning} = sharedCommand(script, version);
	return {own, warning};
}

type Given = {readonly name: string | undefined; readonly flags: Flags; readonly own: Command};

/** Writes one entry for bridge. */
async function runEntry(
	client: Installable,
	named: string,
	{name: given, flags, own}: Given,
): Promise<number> {
	if (given !== undefined && !isName(given))
		throw invalid(`${given} cannot be the name of a server.`, 'Use letters, digits, "_" and "-".');
	const {file, before} = await readClientFile(named);
	const {user, yes} = flags;
	const entry = await entryOf(flags, client, own);
	const name = given ?? freeName(client, before, {file, base: defaultName(flags), entry});
	const secret = 'token' in entry ? entry.token : undefined;
	const after = withEntry(client, before, name, entry, file);
	if (after === before) {
		await print(`${file} has it already; nothing is to be done.\n`);
		return 0;
	}
	const hide = secretHider(parsed(client, before, file), secret === undefined ? [] : [secret]);
	const next = client === 'claude' && !user ? forAll : nextSteps[client];
	const code = await rewrite({file, before, after, hide, isYes: yes, next});
	if (code === 0 && secret !== undefined)
		await print('This file contains your token for X-Bridge-Token: do not share or commit it.\n');
	if (code === 0 && flags.hub && flags.config !== undefined) await print(`${UNCHECKED}\n`);
	return code;
}

/** Puts bridge in front of the commands of a client, or removes it. */
async function runWrapping(
	client: Installable,
	named: string,
	{wrap, yes}: Flags,
	own: Command,
): Promise<number> {
	if (!existsSync(named))
		throw invalid(`There is no ${named}.`, 'Name another client, or use --user for the file of the user.');
	const {file, before} = await readClientFile(named);
	const options = {client, file, cwd: process.cwd()};
	const {text, steps, skipped} = wrap ? wrapAll(before, own, options) : unwrapAll(before, options);
	for (const entry of skipped) await print(`Skipped: ${printable(entry)}.\n`);
	if (steps.length === 0) {
		await print(`${file} has no command to ${wrap ? 'wrap' : 'unwrap'}; nothing is to be done.\n`);
		return 0;
	}
	const hide = secretHider(parsed(client, before, file));
	return rewrite({file, before, after: text, steps, hide, isYes: yes, next: nextSteps[client]});
}

/** Claude Code asks before it runs a file that may be part of a repository. */
const forAll = 'Claude Code asks whether you trust it when it is started here anew; /mcp shows it.';

const nextSteps: {readonly [client in Installable]: string} = {
	claude: 'Claude Code sees it when it is started anew; /mcp shows it.',
	codex: 'Codex sees it when it is started anew.',
	cursor: 'Cursor sees it in its settings, under MCP.',
	vscode: 'VS Code sees it at once; MCP: List Servers shows it.',
};

/** Flags that exclude each other. */
function refuseContradictions(flags: Flags, name: string | undefined): void {
	const {wrap, unwrap, hub, url, user, yes, ...ofServe} = flags;
	const given = [
		...(wrap ? ['--wrap'] : []),
		...(unwrap ? ['--unwrap'] : []),
		...(hub ? ['--hub'] : []),
		...(url ? ['--url'] : []),
	];
	if (given.length > 1) throw invalid(`${given.join(' and ')} exclude each other.`, 'Give one of them.');
	if (!wrap && !unwrap) return;
	if (Object.values(ofServe).some(value => value !== undefined && value !== false))
		throw invalid(
			`${given.join()} takes no configuration and no flags of bridge serve.`,
			'It changes commands that are configured already.',
		);
	if (name !== undefined)
		throw invalid(
			`Unexpected argument "${printable(name)}" for bridge install ${given.join()}.`,
			`${given.join()} changes all entries.`,
		);
}

/** Each kind of entry has a name of its own, so that none replaces another. */
function defaultName({url, hub}: Flags): string {
	if (hub) return 'bridge-hub';
	if (!url) return 'bridge';
	const [, last, first] = /\/mcp\/([^/]+)\/?$|\/([^/]+)\/mcp\/?$/.exec(url.pathname) ?? [];
	const service = last ?? first;
	return `bridge-${(service && slugOf(service)) || 'gateway'}`;
}

async function entryOf(flags: Flags, client: Installable, own: Command): Promise<Entry> {
	const {url, config, hub} = flags;
	if (url) return gatewayEntry(url);
	if (hub) return hubEntry(flags, client, own);
	const [command, ...first] = own;
	const {identity, team, role, model, sandbox, approvalPolicy} = flags;
	const file = config === undefined ? undefined : resolve(config);
	const given = Object.entries({
		config: file,
		team,
		identity,
		role,
		model,
		sandbox,
		'approval-policy': approvalPolicy,
	});
	const args = given.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value]));
	return {command, args: [...first, 'serve', ...args], hasTurns: true};
}

async function gatewayEntry(url: URL): Promise<Entry> {
	if (url.username || url.password)
		throw invalid(`${hiddenUrl(url)} has a secret in it.`, 'It would stand in the file for all to read.');
	const access = isLoopback(url.hostname) ? await localAccess(process.env) : undefined;
	return {url: url.href, ...(access?.by === 'token' ? {token: access.token} : {})};
}

async function hubEntry({config: named}: Flags, client: Installable, own: Command): Promise<Entry> {
	const file = hubFile(await loadConfig({named}), `bridge install ${client} --hub`);
	if (file === undefined)
		throw invalid(
			'There is no configuration file for the hub.',
			'Create one with bridge import > bridge.yaml, and name it with --config bridge.yaml.',
		);
	const [command, ...first] = own;
	return {command, args: [...first, 'hub', '--config', file]};
}

const unknownClient = (client: string | undefined) =>
	invalid(
		client === undefined ? 'bridge install has no client.' : `Unknown client "${client}".`,
		`${nearest(client ?? '', installable)} Write: bridge install ${installable.join('|')}`.trim(),
	);
