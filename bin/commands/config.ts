import {readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import process from 'node:process';
import {parse as parseToml} from 'smol-toml';
import {parse as parseYaml} from 'yaml';
import {findConfigFile} from '../../lib/config/find-file.js';
import {formatConfig} from '../../lib/config/format-config.js';
import {type LoadedConfig, loadConfig} from '../../lib/config/load-config.js';
import {findTrustError} from '../../lib/config/trust.js';
import {TrustStore} from '../../lib/config/trust-store.js';
import {BridgeError} from '../../lib/core/errors.js';
import {formatServeConfig, listServeConfigValues} from '../../lib/serve/config/format-serve-config.js';
import type {LoadedServeConfig} from '../../lib/serve/config/types.js';
import {loadAtmConfigWithFlags} from '../shared/atm-config.js';
import {defineCommand} from '../shared/cli/command.js';
import {type Options, type OptionValues, textFlag} from '../shared/cli/option.js';
import {configFileFlag, jsonFlag, serveOptions, timeoutFlag} from '../shared/cli/options.js';
import {prettyJson, printNotice, writeText} from '../shared/output.js';

const options = {
	...serveOptions,
	timeout: timeoutFlag,
	config: configFileFlag,
	check: {
		...textFlag('FILE', 'validates and prints only this file'),
		alternative: 'Write: bridge config --check FILE',
	},
	json: jsonFlag,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'prints the effective configuration and the origin of each value',
	usage: [
		[
			'bridge config',
			'the discovered file: $BRIDGE_CONFIG, else bridge.yaml, .yml, .json or .toml\nhere, else in ~/.config/bridge/',
		],
		['bridge config --config FILE', 'this file'],
		['bridge config --check FILE', 'validates and prints only this file, before you use it'],
	],
	details: `It also prints the configuration of sessions for bridge serve, which comes from its flags (--identity, --team, --role, --model, …),
ATM_* variables, the file in $ATM_CONFIG, .atm.toml here or above, and ~/.config/atm/config.toml. --config also accepts a .toml file
of sessions. --trust prints the values that apply if the repository's own file is trusted. docs/atm-config.md has all keys.

Secrets are shown as [hidden]. All errors are reported at once on stderr, each with its line and key.

Keys
  listen tokens origins expose startupTimeout runTimeout packs secret advertise store
  limits: message sessions idle unread unreadFor kept rate clientSessions clientRuns clientRequests
  servers (or mcpServers): for each name
    url or command; args env cwd; headers accept contentType
    transport (or type) targetVersion clientVersion cacheTools timeout enabled (or disabled)
    insecure shared strict passAuthorization
  \${NAME} and \${NAME:-default} in values are expanded from the environment; $\${ is a literal \${

FILE may also be ~/.claude.json, .mcp.json, claude_desktop_config.json, .cursor/mcp.json, .vscode/mcp.json or
~/.codex/config.toml: docs/import.md`,
	options,
	examples: ['bridge config --check bridge.yaml'],
	exitCodes: '0 the configuration is valid, 2 the file is invalid or missing',
	unexpectedRemedy: word => `To show a file, write: bridge config --config ${word}`,
	run: ({options}) => showAll(options),
});

async function showAll(flags: Flags): Promise<number> {
	const {check, config} = flags;
	if (check !== undefined && config !== undefined)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			'--check and --config exclude each other.',
			'Use one of them.',
		);
	const both = await load(flags, check ?? config);
	await warnIfUntrusted(both.servers);
	await print(both, flags.json);
	return 0;
}

type Configurations = {
	readonly servers: LoadedConfig | undefined;
	readonly sessions: LoadedServeConfig | undefined;
};

/** Loads the configurations to show: with --check only the one of that file, else all effective ones. */
async function load(flags: Flags, named: string | undefined): Promise<Configurations> {
	const {own, sessions: file} = classifyFile(named);
	const servers = file === undefined ? await loadConfig({named: own, allowUntrusted: true}) : undefined;
	const isNeeded = flags.check === undefined || file !== undefined;
	return {servers, sessions: isNeeded ? await loadAtmConfigWithFlags({...flags, config: file}) : undefined};
}

async function print({servers, sessions}: Configurations, isJson: boolean): Promise<void> {
	for (const warning of [...(servers?.warnings ?? []), ...(sessions?.warnings ?? [])])
		await printNotice(warning);
	const texts = [servers && formatConfig(servers), sessions && formatServeConfig(sessions)];
	const text = texts.filter(each => each !== undefined).join('\n');
	await writeText(process.stdout, isJson ? toJson({servers, sessions}) : text);
}

/** Warns about a file that gateway and hub would reject. It is still shown, since showing it runs nothing. */
async function warnIfUntrusted(loaded: LoadedConfig | undefined): Promise<void> {
	const defaultFile = findConfigFile({environment: {}, cwd: process.cwd(), home: homedir()});
	if (!defaultFile?.needsTrust || loaded?.file !== defaultFile.file) return;
	const error = await findTrustError(new TrustStore(process.env, homedir()), defaultFile.file, process.env);
	if (error) await printNotice(error.sentence);
}

/** The tables that only occur in session configurations. */
const tables = ['core', 'atm', 'plugins', 'aliases'];

/** Returns whether a requested file configures servers or sessions. */
function classifyFile(named: string | undefined): {own?: string | undefined; sessions?: string} {
	if (named === undefined || !named.endsWith('.toml')) return {own: named};
	try {
		const keys = Object.keys(parseToml(readFileSync(named, 'utf8')));
		const isSessionFile = !keys.includes('mcp_servers') && keys.some(key => tables.includes(key));
		return isSessionFile ? {sessions: named} : {own: named};
	} catch {
		// The loader reports the syntax error.
		return named.endsWith('.atm.toml') ? {sessions: named} : {own: named};
	}
}

function toJson({servers, sessions}: Configurations): string {
	const values =
		sessions && listServeConfigValues(sessions).map(({path, value, from}) => [path.join('.'), {value, from}]);
	const serve = sessions && {
		files: sessions.files,
		warnings: sessions.warnings,
		values: Object.fromEntries(values ?? []),
	};
	const bridge = servers && {file: servers.file ?? null, values: parseYaml(formatConfig(servers))};
	return prettyJson({serve, bridge});
}
