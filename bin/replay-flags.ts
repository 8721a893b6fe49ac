import {type Listen, listenOf} from '../lib/config/listen.js';
import {isLoopback} from '../lib/loopback.js';
import type {Timing} from '../lib/replay/client-player.js';
import {type Pattern, patternOf} from '../lib/replay/pointer.js';
import type {Given} from '../lib/replay/secrets.js';
import type {Side} from '../lib/replay/sides.js';
import {invalid} from './values.js';

/** What may be said to `replay`. */
export const replayOptions = ['timing', 'ignore', 'set', 'junit', 'listen', 'side'] as const;
export const replaySwitches = ['serve', 'raw', 'update', 'strict'] as const;

export type ReplayFlags = {
	readonly timing: Timing | undefined;
	/** Where answers may differ. */
	readonly ignored: readonly Pattern[];
	/** Values for what the log does not tell. */
	readonly given: readonly Given[];
	/** The file for a report of continuous integration. */
	readonly junit: string | undefined;
	/** Where the recorded server listens, if not on stdio. */
	readonly listen: Listen | undefined;
	readonly side: Side | undefined;
	/** Play the server instead of the client. */
	readonly isServing: boolean;
	/** Play bytes instead of messages. */
	readonly isRaw: boolean;
	/** Record anew. */
	readonly isUpdating: boolean;
	readonly isStrict: boolean;
};

type Reader = {
	one(name: string): string | undefined;
	all(name: string): readonly string[];
	among<T extends string>(name: string, choices: readonly T[]): T | undefined;
	isGiven(name: string): boolean;
};

/** Understands it. */
export const replayFlags = ({one, all, among, isGiven}: Reader): ReplayFlags => ({
	timing: among('timing', ['recorded', 'fast']),
	ignored: all('ignore').map(text => pattern('ignore', text)),
	given: all('set').map(given),
	junit: one('junit'),
	listen: listen(one('listen')),
	side: among('side', ['client', 'upstream']),
	isServing: isGiven('serve'),
	isRaw: isGiven('raw'),
	isUpdating: isGiven('update'),
	isStrict: isGiven('strict'),
});

/** What was said when nothing was said. */
export const noReplayFlags: ReplayFlags = replayFlags({
	one: () => undefined,
	all: () => [],
	among: () => undefined,
	isGiven: () => false,
});

/** Each flag, and whether it was given. */
export const replayFlagNames: ReadonlyArray<
	readonly [name: string, isGiven: (flags: ReplayFlags) => boolean]
> = [
	['timing', ({timing}) => timing !== undefined],
	['ignore', ({ignored}) => ignored.length > 0],
	['set', ({given}) => given.length > 0],
	['junit', ({junit}) => junit !== undefined],
	['listen', ({listen}) => listen !== undefined],
	['side', ({side}) => side !== undefined],
	['serve', ({isServing}) => isServing],
	['raw', ({isRaw}) => isRaw],
	['update', ({isUpdating}) => isUpdating],
	['strict', ({isStrict}) => isStrict],
];

function pattern(flag: string, text: string): Pattern {
	const found = patternOf(text);
	if (found) return found;
	throw invalid(
		`--${flag} ${text} is no JSON pointer.`,
		'Write it from the top of the message: /result/content/0/text',
	);
}

/** `POINTER=VALUE`. What is in quotes or brackets is JSON, and all else a text. */
function given(text: string): Given {
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

function listen(text: string | undefined): Listen | undefined {
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
