import {type Listen, listenOf} from '../../lib/config/listen.js';
import {isLoopback} from '../../lib/loopback.js';
import {type Pattern, patternOf} from '../../lib/replay/pointer.js';
import type {Given} from '../../lib/replay/secrets.js';
import {choice, flag, type Options, parsed, text, type Values} from '../cli/option.js';
import {environmentOptions, logOptions, timeout, urlOptions} from '../cli/options.js';
import {address, invalid} from '../common/values.js';

/** The flags of `bridge replay`. */
export const options = {
	conn: text(
		'ID',
		'one connection of the log, by its ConnID [all with the same server, one after the other]',
	),
	timing: choice(
		'fast|recorded',
		['recorded', 'fast'],
		'sends as fast as responses come, or not sooner than when it was recorded [fast]',
	),
	ignore: {
		value: 'POINTER',
		summary:
			'a place in responses where anything may be: /result/tools/*/description. May be repeated.\nWith --serve, a place in requests: /params/arguments/now',
		read: (name, given) => given.all(name).map(text => pattern(name, text)),
	},
	strict: flag('times, ids and tokens must be the same, too, and notifications as many'),
	set: {
		value: 'POINTER=VALUE',
		summary: 'the value of a secret, which the log does not have: /params/arguments/token. May be repeated',
		read: (name, given) => given.all(name).map(secretGiven),
	},
	side: choice(
		'client|upstream',
		['client', 'upstream'],
		'what the client sent, or what bridge forwarded to the server [client]',
	),
	update: flag('writes the responses of the live server to LOG, in the place of the recorded ones'),
	junit: text('FILE', 'a report for continuous integration'),
	serve: flag('plays the recorded server instead of the client'),
	listen: parsed('ADDR', 'where the recorded server listens [stdio]', listen),
	raw: flag('plays bytes of a log of bridge raw'),
	url: {
		...urlOptions.url,
		summary: 'the live server; tcp://HOST:PORT with --raw',
		read: (name, given) => address(given.one(name), name, given.isGiven('raw')),
	},
	header: urlOptions.header,
	...environmentOptions,
	timeout: {...timeout, summary: 'time for one response [60]; 0 for no limit'},
	...logOptions,
} satisfies Options;

export type ReplayFlags = Values<typeof options>;

function pattern(flag: string, text: string): Pattern {
	const found = patternOf(text);
	if (found) return found;
	throw invalid(
		`--${flag} ${text} is no JSON pointer.`,
		'Write it from the top of the message: /result/content/0/text',
	);
}

/** `POINTER=VALUE`. What is in quotes or brackets is JSON, and all else a text. */
function secretGiven(text: string): Given {
	const at = text.indexOf('=');
	if (at === -1) throw invalid(`--set ${text} has no value.`, 'Write --set POINTER=VALUE.');
	return {pattern: pattern('set', text.slice(0, at)), value: secretOf(text.slice(at + 1))};
}

function secretOf(text: string): unknown {
	if (!/^["{[]/.test(text)) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

function listen(_name: string, text: string | undefined): Listen | undefined {
	if (text === undefined) return;
	const found = listenOf(text);
	if (!found || found.path !== undefined)
		throw invalid(`--listen ${text} cannot be read.`, 'Write --listen 127.0.0.1:7411, or a port alone.');
	if (!isLoopback(found.host))
		throw invalid(
			`--listen ${text} could be reached by others.`,
			'A recording is played on this machine alone.',
		);
	return found;
}
