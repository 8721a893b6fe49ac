import type {Logger} from 'pino';
import {localTime} from '../util/local-time.js';
import {printable, printableJson} from '../util/printable.js';
import {redactKnownSecrets} from './known-secrets.js';

export const logLevelNames = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevelName = (typeof logLevelNames)[number];

/** One entry: a name that stays the same for programs, a sentence for people, and the facts. */
type LogMethod = (event: string, sentence: string, fields?: {readonly [key: string]: unknown}) => void;

/** The structured log on stderr. */
export type Log = {readonly [level in LogLevelName]: LogMethod} & {
	/** Resolves when every entry so far is handed to `write`. */
	flush(): Promise<void>;
};

type LogOptions = {
	readonly level: LogLevelName;
	/** Takes one line, line feed included. */
	readonly write: (line: string) => void;
	/** Lines for people instead of JSON. */
	readonly isPretty: boolean;
	/** Whether these lines are in color. */
	readonly hasColor?: boolean;
};

/** How long what is not urgent may wait, so that the first messages of a conversation do not wait for the log. */
const LOAD_DELAY_MS = 50;

/**
 * A log whose pino is loaded with the first entry, and that not at once unless something is wrong: conversations start
 * sooner without. Entries made meanwhile keep their order; there are few.
 */
export function createLog({level, write, isPretty, hasColor = false}: LogOptions): Log {
	let logger: Logger | undefined;
	let loading: Promise<void> | undefined;
	let loadTimer: NodeJS.Timeout | undefined;
	const queued: Array<(logger: Logger) => void> = [];
	const load = async (): Promise<void> => {
		const {default: pino} = await import('pino');
		const finish = isPretty ? (line: string) => prettyLine(line, hasColor) : printableJson;
		const stream = {write: (line: string) => write(finish(redactKnownSecrets(line)))};
		logger = pino({level, base: {name: 'bridge'}, timestamp: pino.stdTimeFunctions.isoTime}, stream);
		for (const log of queued.splice(0)) log(logger);
	};
	const startLoading = (): void => {
		clearTimeout(loadTimer);
		loading ??= load();
	};
	const logMethod =
		(at: LogLevelName): LogMethod =>
		(event, sentence, fields) => {
			if (logLevelNames.indexOf(at) > logLevelNames.indexOf(level)) return;
			if (logger) {
				logger[at]({event, ...fields}, sentence);
				return;
			}
			queued.push(loaded => loaded[at]({event, ...fields}, sentence));
			if (at === 'error' || at === 'warn') startLoading();
			else loadTimer ??= setTimeout(startLoading, LOAD_DELAY_MS).unref();
		};
	return {
		error: logMethod('error'),
		warn: logMethod('warn'),
		info: logMethod('info'),
		debug: logMethod('debug'),
		trace: logMethod('trace'),
		async flush() {
			if (queued.length > 0) startLoading();
			await loading;
		},
	};
}

const levelStyles = new Map([
	[50, {name: 'error', color: 31}],
	[40, {name: 'warn', color: 33}],
	[30, {name: 'info', color: 32}],
	[20, {name: 'debug', color: 36}],
	[10, {name: 'trace', color: 2}],
]);
const DIM = 2;

/**
 * One JSON line of pino's for people, in local time, without the facts that its sentence has. The values of fields stay
 * quoted, so that no text can forge a line.
 */
function prettyLine(line: string, hasColor: boolean): string {
	const {level, time, msg, event, name: _name, ...fields} = JSON.parse(line);
	const {name, color} = levelStyles.get(level) ?? {name: String(level), color: 0};
	const sentence = String(msg);
	const facts = Object.entries(fields)
		.filter(([, value]) => value !== null && !containsWord(sentence, value))
		.map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
	const paint = (code: number, text: string): string =>
		hasColor && text !== '' ? `\u001b[${code}m${printable(text)}\u001b[0m` : printable(text);
	const clock = paint(DIM, localTime(new Date(time)));
	return `${clock} ${paint(color, name)} ${paint(DIM, `${event}:`)} ${printable(sentence)}${paint(DIM, facts.join(''))}\n`;
}

/** Whether a sentence has a value as a whole word. */
function containsWord(sentence: string, value: unknown): boolean {
	const text = typeof value === 'number' ? String(value) : value;
	if (typeof text !== 'string' || text === '') return false;
	const at = sentence.indexOf(text);
	const isLetter = (char = ''): boolean => /\w/.test(char);
	return at !== -1 && !isLetter(sentence[at - 1]) && !isLetter(sentence[at + text.length]);
}

/** Tells of something that nobody has foreseen, with all that helps to find it. */
export function logBug(log: Log, error: unknown): void {
	const {message, stack} = error instanceof Error ? error : new Error(String(error));
	log.error('bug', `This is a bug in bridge: ${message}`, {stack});
}
