import {snippetClients} from '../../../lib/admin/install/gateway-snippet.js';
import {logLevelNames} from '../../../lib/core/log.js';
import {handshakeVersions, versions} from '../../../lib/protocol/version.js';
import {parseSizeFlag, parseTimeFlag} from '../flag-units.js';
import {parseEnvFlags, parseHeaderFlags, parseUrlFlag, usageError} from '../flag-values.js';
import {DEFAULT_FILENAME_FORMAT, parseLogDestination} from '../log-destination.js';
import {booleanFlag, choiceFlag, type Options, parsedFlag, readChoice, textFlag} from './option.js';

/** The name of the timeout flag in error messages. */
export const TIMEOUT_FLAG = '--timeout SECONDS';

/** The flags that every command accepts. */
export const commonOptions = {
	debug: booleanFlag('prints each message on stderr: time, direction, method, id, size, latency'),
	logLevel: {
		...choiceFlag(
			'LEVEL',
			logLevelNames,
			"error, warn, info, debug or trace, for bridge's own log on stderr [info]",
		),
		read: (name, input) => readChoice(name, input, logLevelNames) ?? (input.has('debug') ? 'debug' : 'info'),
	},
	logFormat: choiceFlag(
		'pretty|json',
		['pretty', 'json'],
		"format of bridge's own log [pretty on a terminal, otherwise json]",
	),
	help: booleanFlag('prints this help; also -h'),
	version: booleanFlag('prints the version; also -v'),
} satisfies Options;

/** The flags of the traffic log. */
export const logOptions = {
	debug: commonOptions.debug,
	log: {
		value: 'FILE',
		summary: 'writes all traffic to FILE as NDJSON; --log @DIR for a new file each hour',
		read: (name, input) => parseLogDestination(input.single(name), input.single('filename-format')),
	},
	logSecrets: booleanFlag('keeps passwords and tokens in the traffic log'),
	filenameFormat: textFlag('FORMAT', `names of files in @DIR [${DEFAULT_FILENAME_FORMAT}], in UTC`),
	flushMillis: parsedFlag(
		'MS',
		'maximum time before buffered log lines are written [2000]',
		(name, input) => parseTimeFlag(name, input, 1) ?? 2000,
	),
	maxBuffer: parsedFlag(
		'SIZE',
		'size limit of the log buffer [256MiB]',
		(name, input) => parseSizeFlag(name, input) ?? 256 * 2 ** 20,
	),
	onFull: {
		...choiceFlag(
			'gap|wait',
			['gap', 'wait'],
			'when the buffer is full: drops and counts lines, or blocks traffic [gap]',
		),
		read: (name, input) => readChoice(name, input, ['gap', 'wait']) ?? 'gap',
	},
	logLevel: commonOptions.logLevel,
	logFormat: commonOptions.logFormat,
} satisfies Options;

/** The flags of bridge's own log, for commands without traffic. */
export const stderrLogOptions = {
	logLevel: commonOptions.logLevel,
	logFormat: commonOptions.logFormat,
} satisfies Options;

/** The protocol versions of the client and upstream sides. */
export const versionOptions = {
	clientVersion: choiceFlag(
		'V',
		handshakeVersions,
		'protocol version that the client gets [the one that it requests]',
	),
	targetVersion: choiceFlag(
		'V',
		versions,
		'protocol version that is requested from the server [2025-11-25]: 2024-11-05, 2025-03-26,\n2025-06-18, 2025-11-25, or 2026-07-28, which has no handshake',
	),
} satisfies Options;

export const timeoutFlag = parsedFlag('SECONDS', 'time for one request [60]; 0 for no limit', (name, input) =>
	parseTimeFlag(name, input, 1000),
);

export const cacheToolsFlag = booleanFlag(
	'requests the list of tools once, responds from it, and notifies the client of real changes',
);

/** The environment of a server that is started with `--`. */
export const environmentOptions = {
	env: {
		value: 'NAME=VALUE',
		summary: 'sets a variable for the server; --env NAME passes on your value. Repeatable',
		alternative: 'Write: bridge --env NAME -- COMMAND. In a configuration, env is a key of each server.',
		read: (name, input) => parseEnvFlags(input.all(name)),
	},
	cleanEnv: booleanFlag(
		'passes on only an allow-list such as PATH and HOME. By default, COMMAND gets your environment without BRIDGE_*',
		'Write: bridge --clean-env -- COMMAND. Other commands pass on the allow-list only.',
	),
} satisfies Options;

/** The flags of a remote server. */
export const urlOptions = {
	url: {
		value: 'URL',
		summary: 'the server: http(s):// or ws(s)://',
		alternative: 'Set url in the configuration; or leave out the command: bridge --url URL',
		read: (name, input) => parseUrlFlag(input.single(name), name),
	},
	header: {
		value: '"NAME: VALUE"',
		summary: 'header for every request to the URL. Repeatable',
		alternative: 'Add --url URL. In a configuration, headers are a key of each server.',
		read: (name, input) => parseHeaderFlags(input.all(name)),
	},
} satisfies Options;

export const configFileFlag = textFlag(
	'FILE',
	'the configuration [bridge.yaml, .yml, .json or .toml here, or in ~/.config/bridge/];\na file here must be trusted first: bridge trust',
);

const printClientFlag = {
	...choiceFlag(
		'CLIENT',
		snippetClients,
		'prints the configuration of a client: codex, claude, cursor or vscode',
	),
	alternative: 'Write: bridge gateway --print-client CLIENT',
};

/** The flags of the commands that run configured servers. */
export const serversOptions = {
	config: configFileFlag,
	printClient: printClientFlag,
	...logOptions,
	...versionOptions,
	timeout: timeoutFlag,
	cacheTools: cacheToolsFlag,
} satisfies Options;

export const jsonFlag = booleanFlag('prints JSON');

/** The flags that select teams and sessions. */
export const sessionOptions = {
	team: textFlag('NAME', 'the team'),
	identity: textFlag('NAME', 'the identity'),
	config: textFlag('FILE', 'configuration instead of .atm.toml and ~/.config/atm/config.toml'),
	trust: booleanFlag('trusts the .atm.toml of this repository with all keys: docs/atm-config.md'),
} satisfies Options;

/** The settings of new sessions. */
export const serveOptions = {
	identity: textFlag('NAME', 'identity of sessions whose call sets none [codex]'),
	role: textFlag('NAME', 'role preset of calls that set none; other flags override it'),
	model: {
		...textFlag('MODEL', 'default model of sessions'),
		read: (name, input) => {
			if (input.has('fast') && input.has(name))
				throw usageError('--model and --fast exclude each other.', 'Use one of them.');
			return input.single(name);
		},
	},
	fast: booleanFlag('uses fast_model of the configuration as the model'),
	sandbox: textFlag('MODE', 'read-only, workspace-write or danger-full-access'),
	approvalPolicy: textFlag('POLICY', 'on-request or never'),
	team: textFlag('NAME', 'team of the sessions'),
	config: sessionOptions.config,
	trust: sessionOptions.trust,
} satisfies Options;

/** The flags that are accepted before the command name. */
export const globalOptions = {
	...commonOptions,
	...logOptions,
	...versionOptions,
	...environmentOptions,
	...urlOptions,
	timeout: timeoutFlag,
	cacheTools: cacheToolsFlag,
	config: configFileFlag,
} satisfies Options;
