import {type Client, clients} from '../lib/config/clients.js';
import type {Headers} from '../lib/envelope.js';
import {type Level, levels} from '../lib/log.js';
import {nearest} from '../lib/nearest.js';
import {type HandshakeVersion, handshakeVersions, type Version, versions} from '../lib/protocol/version.js';
import type {Destination} from '../lib/store/traffic-log.js';
import type {Environment} from '../lib/transports/environment.js';
import {refuseOthers} from './byte-flags.js';
import {type CompanionFlags, companionFlags, companionOptions, companionSwitches} from './companion-flags.js';
import {destination} from './destination.js';
import {noFlags} from './no-flags.js';
import {type ReplayFlags, replayFlags, replayOptions, replaySwitches} from './replay-flags.js';
import {
	ANY,
	isOptional,
	type SessionFlags,
	sessionFlags,
	sessionOptions,
	sessionSwitches,
} from './session-flags.js';
import {bytes, millis, port} from './units.js';
import {address, environment, headersOf, invalid} from './values.js';

/** What was typed, understood. */
export type Invocation = {
	/** The server to run: what follows `--`. */
	readonly server: readonly string[] | undefined;
	/** What stands before `--` and is no flag. */
	readonly words: readonly string[];
	readonly flags: Flags;
};

export type Flags = {
	readonly help: boolean;
	readonly version: boolean;
	readonly debug: boolean;
	readonly logLevel: Level;
	readonly log: Destination | undefined;
	readonly logSecrets: boolean;
	readonly flushMs: number;
	readonly maxBufferBytes: number;
	readonly onFull: 'gap' | 'wait';
	/** Undefined where it was not given. */
	readonly timeoutMs: number | undefined;
	readonly env: Environment;
	readonly url: URL | undefined;
	/** What requests to that URL have beyond what the protocol wants. */
	readonly headers: Headers;
	/** The configuration file to use. */
	readonly config: string | undefined;
	/** The configuration file to look at, and not to use. */
	readonly check: string | undefined;
	readonly clientVersion: HandshakeVersion | undefined;
	readonly targetVersion: Version | undefined;
	readonly cacheTools: boolean;
	/** The program that a gateway's snippet is for. */
	readonly printClient: Client | undefined;
	/** For `raw`: the port of its control server, 0 for any, and what `--log` and `--filename-format` say as they are. */
	readonly mcpPort: number | undefined;
	/** The token that clients of the control server need, and the only folder for their logs. */
	readonly mcpToken: string | undefined;
	readonly logRoot: string | undefined;
	readonly rawLog: {readonly log: string | undefined; readonly format: string | undefined};
	/** For `decode`: the connection, and who said what is wanted of it. */
	readonly conn: string | undefined;
	readonly direction: 'from' | 'to' | undefined;
	/** For `view`: the gateway whose traffic is shown as it passes, and the port of the page. */
	readonly live: URL | undefined;
	readonly port: number | undefined;
	/** For `serve` and its companions. */
	readonly session: SessionFlags;
	/** For `threads`, `install` and others that are for people. */
	readonly companion: CompanionFlags;
	/** For `replay`. */
	readonly replay: ReplayFlags;
};

const switches = [
	'help',
	'version',
	'debug',
	'log-secrets',
	'cache-tools',
	'from',
	'to',
	...sessionSwitches,
	...companionSwitches,
	...replaySwitches,
] as const;
const options = [
	...[
		'log',
		'log-level',
		'timeout',
		'env',
		'client-version',
		'target-version',
		'url',
		'config',
		'check',
		'print-client',
		'header',
	],
	...[
		'live',
		'port',
		'mcp-port',
		'mcp-token',
		'log-root',
		'conn',
		'filename-format',
		'flush-millis',
		'max-buffer',
		'on-full',
	],
	...sessionOptions,
	...companionOptions,
	...replayOptions,
] as const;
const known: readonly string[] = [...options, ...switches];

/** What is for bridge, and what is the server's, if there is one. */
export function splitAtDashes(argv: readonly string[]): Array<readonly string[]> {
	const at = argv.indexOf('--');
	return at === -1 ? [argv] : [argv.slice(0, at), argv.slice(at + 1)];
}

export async function readInvocation(argv: readonly string[]): Promise<Invocation> {
	const [own = [], server] = splitAtDashes(argv);
	// The common case, `bridge -- server`, has nothing for meow to read and starts sooner without it.
	if (own.length === 0) return {server, words: [], flags: noFlags};
	const words = own.flatMap((word, at) => (isValue(own, at) ? [] : [withValue(word, own[at + 1])]));
	const {default: meow} = await import('meow');
	const {input, flags} = meow('', {
		importMeta: import.meta,
		// meow names the process after it.
		pkg: {name: 'bridge'},
		argv: words,
		autoHelp: false,
		autoVersion: false,
		flags: {
			...Object.fromEntries(switches.map(name => [camel(name), {type: 'boolean'}])),
			...Object.fromEntries(options.map(name => [camel(name), {type: 'string', isMultiple: true}])),
		},
	});
	return {server, words: input, flags: understood(new Map(Object.entries(flags)), input[0])};
}

/** Whether a flag was given, by what meow made of it. */
const isGiven = (value: unknown): boolean => value === true || (Array.isArray(value) && value.length > 0);

const camel = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

const isOption = (word: string | undefined): boolean => options.some(name => word === `--${name}`);

/** Whether the word at this position is the value of the option before it. */
const isValue = (words: readonly string[], at: number): boolean =>
	isOption(words[at - 1]) && !words[at]?.startsWith('--') && !isValue(words, at - 1);

/** A word with its value, if it is an option, in one. What it is not allowed to be is told here. */
function withValue(word: string, next: string | undefined): string {
	const [, name, value] = /^--?([^=]+)(=.*)?$/s.exec(word) ?? [];
	if (name === undefined) return word;
	const flag = word.slice(0, word.length - (value ?? '').length);
	if (!known.includes(name) || flag !== `--${name}`)
		throw invalid(
			`There is no flag ${flag}.`,
			`${nearest(name, known, '--')} bridge --help lists all.`.trim(),
		);
	if (!isOption(flag)) {
		if (value !== undefined) throw invalid(`${flag} takes no value.`, `Write ${flag} alone.`);
		return word;
	}
	const given = value?.slice(1) ?? (next?.startsWith('--') ? undefined : next);
	if (isOptional(name) && given === undefined) return `${flag}=${ANY}`;
	if (given === undefined || given === '') throw invalid(`${flag} has no value.`, `Write ${flag} VALUE.`);
	return `${flag}=${given}`;
}

function understood(given: ReadonlyMap<string, unknown>, command: string | undefined): Flags {
	const all = (name: string): readonly string[] => (given.get(camel(name)) as string[] | undefined) ?? [];
	const one = (name: string): string | undefined => {
		const values = all(name);
		if (values.length > 1) throw invalid(`--${name} is given ${values.length} times.`, 'Give it once.');
		return values[0];
	};
	const among = <T extends string>(name: string, choices: readonly T[]): T | undefined => {
		const value = one(name);
		const choice = choices.find(known => known === value);
		if (value !== undefined && choice === undefined)
			throw invalid(`--${name} ${value} is not known.`, `It is one of ${choices.join(', ')}.`);
		return choice;
	};
	refuseOthers(
		command,
		known.filter(name => isGiven(given.get(camel(name)))),
	);
	const debug = given.get('debug') === true;
	const [isFrom, isTo] = [given.get('from') === true, given.get('to') === true];
	if (isFrom && isTo) throw invalid('There are --from and --to.', 'Give one, or none for both directions.');
	return {
		help: given.get('help') === true,
		version: given.get('version') === true,
		debug,
		logLevel: among('log-level', levels) ?? (debug ? 'debug' : noFlags.logLevel),
		log: command === 'raw' ? undefined : destination(one('log'), one('filename-format')),
		rawLog: command === 'raw' ? {log: one('log'), format: one('filename-format')} : noFlags.rawLog,
		mcpPort: port('mcp-port', one('mcp-port')),
		mcpToken: one('mcp-token'),
		logRoot: one('log-root'),
		conn: one('conn'),
		direction: isFrom ? 'from' : isTo ? 'to' : undefined,
		live: address(one('live'), 'live'),
		port: port('port', one('port')),
		logSecrets: given.get('logSecrets') === true,
		flushMs: millis('flush-millis', one('flush-millis'), 1) ?? noFlags.flushMs,
		maxBufferBytes: bytes('max-buffer', one('max-buffer')) ?? noFlags.maxBufferBytes,
		onFull: among('on-full', ['gap', 'wait']) ?? noFlags.onFull,
		timeoutMs: millis('timeout', one('timeout'), 1000),
		url: address(one('url'), 'url', command === 'replay' && given.get('raw') === true),
		headers: headersOf(all('header')),
		config: one('config'),
		check: one('check'),
		clientVersion: among('client-version', handshakeVersions),
		targetVersion: among('target-version', versions),
		cacheTools: given.get('cacheTools') === true,
		printClient: among('print-client', clients),
		session: sessionFlags(one, name => given.get(name) === true),
		companion: companionFlags(one, name => given.get(name) === true),
		replay: replayFlags({one, among, all, isGiven: name => given.get(name) === true}),
		env: environment(all('env')),
	};
}
