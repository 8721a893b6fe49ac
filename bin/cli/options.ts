import {clients} from '../../lib/config/clients.js';
import {levels} from '../../lib/log.js';
import {handshakeVersions, versions} from '../../lib/protocol/version.js';
import {DEFAULT_FORMAT, destination} from '../common/destination.js';
import {bytes, millis} from '../common/units.js';
import {address, environment, headersOf, invalid} from '../common/values.js';
import {choice, flag, type Options, oneOf, parsed, text} from './option.js';

/** How errors name the flag that sets the time for one request. */
export const TIMEOUT_FLAG = '--timeout SECONDS';

/** Flags of every command. */
export const commonOptions = {
	debug: flag('shows each message on stderr: time, direction, method, id, size, latency'),
	logLevel: {
		...choice('LEVEL', levels, "error, warn, info, debug or trace, for bridge's own log on stderr [info]"),
		read: (name, given) => oneOf(name, given, levels) ?? (given.isGiven('debug') ? 'debug' : 'info'),
	},
	logFormat: choice(
		'pretty|json',
		['pretty', 'json'],
		"the form of bridge's own log [pretty on a terminal, else json]",
	),
	help: flag('prints this help; also -h'),
	version: flag('prints the version; also -v'),
} satisfies Options;

/** Where the traffic log goes and how it is written. */
export const logOptions = {
	debug: commonOptions.debug,
	log: {
		value: 'FILE',
		summary: 'writes all traffic to FILE as NDJSON; --log @DIR for a new file each hour',
		read: (name, given) => destination(given.one(name), given.one('filename-format')),
	},
	logSecrets: flag('keeps passwords and tokens in the traffic log'),
	filenameFormat: text('FORMAT', `names of files in @DIR [${DEFAULT_FORMAT}], in UTC`),
	flushMillis: parsed(
		'MS',
		'how long log lines wait to be written together [2000]',
		(name, given) => millis(name, given, 1) ?? 2000,
	),
	maxBuffer: parsed(
		'SIZE',
		'how much of the log may wait to be written [256MiB]',
		(name, given) => bytes(name, given) ?? 256 * 2 ** 20,
	),
	onFull: {
		...choice('gap|wait', ['gap', 'wait'], 'then leaves lines out, counted, or lets traffic wait [gap]'),
		read: (name, given) => oneOf(name, given, ['gap', 'wait']) ?? 'gap',
	},
	logLevel: commonOptions.logLevel,
	logFormat: commonOptions.logFormat,
} satisfies Options;

/** The options of bridge's own log, for commands without traffic. */
export const ownLogOptions = {
	logLevel: commonOptions.logLevel,
	logFormat: commonOptions.logFormat,
} satisfies Options;

/** The protocol versions of both sides. */
export const versionOptions = {
	clientVersion: choice(
		'V',
		handshakeVersions,
		'protocol version that the client gets [the one that it requests]',
	),
	targetVersion: choice(
		'V',
		versions,
		'protocol version that is requested from the server [2025-11-25]: 2024-11-05, 2025-03-26,\n2025-06-18, 2025-11-25, or 2026-07-28, which has no handshake',
	),
} satisfies Options;

export const timeout = parsed('SECONDS', 'time for one request [60]; 0 for no limit', (name, given) =>
	millis(name, given, 1000),
);

export const cacheTools = flag(
	'requests the list of tools once, responds from it, and notifies the client of real changes',
);

/** The environment of a server that is named after `--`. */
export const environmentOptions = {
	env: {
		value: 'NAME=VALUE',
		summary: 'sets a variable for the server; --env NAME passes on your own. May be repeated',
		elsewhere: 'Write: bridge --env NAME -- COMMAND. In a configuration, env is a key of each server.',
		read: (name, given) => environment(given.all(name)),
	},
	cleanEnv: flag(
		'passes on PATH, HOME and the like only; without it, COMMAND gets your environment, except BRIDGE_*',
		'Write: bridge --clean-env -- COMMAND. Other commands pass on the allow-list only.',
	),
} satisfies Options;

/** A server elsewhere. */
export const urlOptions = {
	url: {
		value: 'URL',
		summary: 'the server: http(s):// or ws(s)://',
		elsewhere: 'Set url in the configuration; or leave out the command: bridge --url URL',
		read: (name, given) => address(given.one(name), name),
	},
	header: {
		value: '"NAME: VALUE"',
		summary: 'is sent with every request to the URL. May be repeated',
		elsewhere: 'Add --url URL. In a configuration, headers are a key of each server.',
		read: (name, given) => headersOf(given.all(name)),
	},
} satisfies Options;

/** The configuration of servers. */
export const configFile = text(
	'FILE',
	'the configuration [bridge.yaml, .yml, .json or .toml here, or in ~/.config/bridge/];\na file here has to be trusted first: bridge trust',
);

export const printClient = {
	...choice(
		'CLIENT',
		clients,
		"prints what to write into a client's configuration: codex, claude, cursor or vscode",
	),
	elsewhere: 'Write: bridge gateway --print-client CLIENT',
};

/** Flags of the commands that run the servers of a configuration. */
export const serversOptions = {
	config: configFile,
	printClient,
	...logOptions,
	...versionOptions,
	timeout,
	cacheTools,
} satisfies Options;

export const json = flag('prints JSON, for programs');

/** Which team and whose sessions: for commands that look at them. */
export const sessionOptions = {
	team: text('NAME', 'the team'),
	identity: text('NAME', 'the identity'),
	config: text('FILE', 'configuration instead of .atm.toml and ~/.config/atm/config.toml'),
	trust: flag('trusts the .atm.toml of this repository with all keys: docs/atm-config.md'),
} satisfies Options;

/** Settings of new sessions. */
export const serveOptions = {
	identity: text('NAME', 'identity of sessions whose call names none [codex]'),
	role: text('NAME', 'role preset of calls that name none; other flags override it'),
	model: {
		...text('MODEL', 'model of sessions that have no other'),
		read: (name, given) => {
			if (given.isGiven('fast') && given.isGiven(name))
				throw invalid('--model and --fast exclude each other.', 'Give one of them.');
			return given.one(name);
		},
	},
	fast: flag('uses fast_model of the configuration as the model'),
	sandbox: text('MODE', 'read-only, workspace-write or danger-full-access'),
	approvalPolicy: text('POLICY', 'on-request or never'),
	team: text('NAME', 'team whose sessions these are'),
	config: sessionOptions.config,
	trust: sessionOptions.trust,
} satisfies Options;

/** The flags that may stand before the name of a command. */
export const frontOptions = {
	...commonOptions,
	...logOptions,
	...versionOptions,
	...environmentOptions,
	...urlOptions,
	timeout,
	cacheTools,
	config: configFile,
} satisfies Options;
