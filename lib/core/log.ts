import type {Logger} from 'pino';
import {localTime} from '../util/local-time.js';
import {printable, printableJson} from '../util/printable.js';
import {redactKnownSecrets} from './known-secrets.js';

export const logLevelNames = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevelName = (typeof logLevelNames)[number];

/** Logs one entry: a stable event name for programs, a sentence for people, and fields. */
type LogMethod = (event: string, sentence: string, fields?: {readonly [key: string]: unknown}) => void;

/** The structured log on stderr. */
export type Log = {readonly [level in LogLevelName]: LogMethod} & {
	/** Resolves when all entries so far were passed to `write`. */
	flush(): Promise<void>;
};

type LogOptions = {
	readonly level: LogLevelName;
	/** Receives one line, including its line feed. */
	readonly write: (line: string) => void;
	/** Whether to write lines for people instead of JSON. */
	readonly isPretty: boolean;
	readonly hasColor?: boolean;
};

/** Delay before pino is loaded for non-urgent entries, so that loading does not delay the first messages. */
const LOAD_DELAY_MS = 50;

/**
 * Creates a log that loads pino lazily, because loading would delay the first messages. Errors and warnings
 * load it at once. Entries logged meanwhile are queued in order.
 */
export function createLog({level, write, isPretty, hasColor = false}: LogOptions): Log {
	let logger: Logger | undefined;
	let loading: Promise<void> | undefined;
	let loadTimer: NodeJS.Timeout | undefined;
	const queued: Array<(logger: Logger) => void> = [];
	const load = async (): Promise<void> => {
		const {default: pino} = await import('pino');
		const format = isPretty ? (line: string) => prettyLine(line, hasColor) : printableJson;
		const stream = {write: (line: string) => write(format(redactKnownSecrets(line)))};
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
 * Formats one of pino's JSON lines for people, in local time. Fields whose value is already in the sentence
 * are left out. Values stay quoted, so no text can forge a line.
 */
function prettyLine(line: string, hasColor: boolean): string {
	const {level, time, msg, event, name: _name, ...fields} = JSON.parse(line);
	const {name, color} = levelStyles.get(level) ?? {name: String(level), color: 0};
	const sentence = String(msg);
	const fieldTexts = Object.entries(fields)
		.filter(([, value]) => value !== null && !containsWord(sentence, value))
		.map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
	const paint = (code: number, text: string): string =>
		hasColor && text !== '' ? `\u001b[${code}m${printable(text)}\u001b[0m` : printable(text);
	const clock = paint(DIM, localTime(new Date(time)));
	return `${clock} ${paint(color, name)} ${paint(DIM, `${event}:`)} ${printable(sentence)}${paint(DIM, fieldTexts.join(''))}\n`;
}

function containsWord(sentence: string, value: unknown): boolean {
	const text = typeof value === 'number' ? String(value) : value;
	if (typeof text !== 'string' || text === '') return false;
	const at = sentence.indexOf(text);
	const isLetter = (char = ''): boolean => /\w/.test(char);
	return at !== -1 && !isLetter(sentence[at - 1]) && !isLetter(sentence[at + text.length]);
}

export function logBug(log: Log, error: unknown): void {
	const {message, stack} = error instanceof Error ? error : new Error(String(error));
	log.error('bug', `This is a bug in bridge: ${message}`, {stack});
}
