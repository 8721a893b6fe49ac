import {type ListenAddress, parseListenAddress} from '../../../lib/config/listen-address.js';
import {type PointerPattern, parsePointer} from '../../../lib/replay/json-pointer.js';
import type {SecretValue} from '../../../lib/replay/secret-values.js';
import {isLoopback} from '../../../lib/util/loopback.js';
import {
	booleanFlag,
	choiceFlag,
	type Options,
	type OptionValues,
	parsedFlag,
	textFlag,
} from '../../shared/cli/option.js';
import {environmentOptions, logOptions, timeoutFlag, urlOptions} from '../../shared/cli/options.js';
import {parseUrlFlag, usageError} from '../../shared/flag-values.js';

export const replayOptions = {
	conn: textFlag(
		'ID',
		'one connection of the log, by its ConnID [all with the same server, one after the other]',
	),
	timing: choiceFlag(
		'fast|recorded',
		['recorded', 'fast'],
		'sends as soon as responses arrive, or with the recorded delays [fast]',
	),
	ignore: {
		value: 'POINTER',
		summary:
			'ignores differences at this JSON pointer in responses: /result/tools/*/description.\nRepeatable. With --serve, in requests: /params/arguments/now',
		read: (name, input) => input.all(name).map(text => parsePattern(name, text)),
	},
	strict: booleanFlag('also compares times, ids, tokens and the number of notifications'),
	set: {
		value: 'POINTER=VALUE',
		summary: 'sets a secret that is not in the log: /params/arguments/token. Repeatable',
		read: (name, input) => input.all(name).map(parseSecret),
	},
	side: choiceFlag(
		'client|upstream',
		['client', 'upstream'],
		'replays messages as the client sent them, or as bridge forwarded them [client]',
	),
	update: booleanFlag('replaces the recorded responses in LOG with those of the live server'),
	junit: textFlag('FILE', 'writes a JUnit report'),
	serve: booleanFlag('serves the recording instead of replaying the client'),
	listen: parsedFlag('ADDR', 'address to serve the recording on [stdio]', parseLocalListen),
	raw: booleanFlag('replays the bytes of a bridge raw log'),
	url: {
		...urlOptions.url,
		summary: 'the live server; tcp://HOST:PORT with --raw',
		read: (name, input) => parseUrlFlag(input.single(name), name, input.has('raw')),
	},
	header: urlOptions.header,
	...environmentOptions,
	timeout: {...timeoutFlag, summary: 'time for one response [60]; 0 for no limit'},
	...logOptions,
} satisfies Options;

export type ReplayFlags = OptionValues<typeof replayOptions>;

function parsePattern(flag: string, text: string): PointerPattern {
	const parsed = parsePointer(text);
	if (parsed) return parsed;
	throw usageError(
		`--${flag} ${text} is not a JSON pointer.`,
		'Start at the root of the message: /result/content/0/text',
	);
}

/** Parses `POINTER=VALUE`. A value that starts with a quote or a bracket is JSON, any other is a string. */
function parseSecret(text: string): SecretValue {
	const at = text.indexOf('=');
	if (at === -1) throw usageError(`--set ${text} has no value.`, 'Write --set POINTER=VALUE.');
	return {pattern: parsePattern('set', text.slice(0, at)), value: parseSecretValue(text.slice(at + 1))};
}

function parseSecretValue(text: string): unknown {
	if (!/^["{[]/.test(text)) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

function parseLocalListen(_name: string, text: string | undefined): ListenAddress | undefined {
	if (text === undefined) return;
	const address = parseListenAddress(text);
	if (!address || address.path !== undefined)
		throw usageError(`--listen ${text} is not valid.`, 'Write --listen 127.0.0.1:7411, or a port alone.');
	if (!isLoopback(address.host))
		throw usageError(
			`--listen ${text} is reachable from other machines.`,
			'Recordings can only be served on this machine. Use a loopback address.',
		);
	return address;
}
