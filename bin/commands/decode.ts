import {BridgeError} from '../../lib/core/errors.js';
import {ConnectionDecoder, connectionIdOf} from '../../lib/traffic-log/decode.js';
import {type LogFile, listLogFiles, readLogLines} from '../../lib/traffic-log/log-files.js';
import {openStdout} from '../../lib/transports/stdio/stdout.js';
import {defineCommand} from '../shared/cli/command.js';
import {booleanFlag, type Options, type OptionValues, textFlag} from '../shared/cli/option.js';
import {stderrLogOptions} from '../shared/cli/options.js';
import {usageError} from '../shared/flag-values.js';
import {createStderrLog} from '../shared/observers.js';
import type {StopSignals} from '../shared/stop-signals.js';

/** The number of connection ids that an error lists. */
const MAX_IDS = 20;

const options = {
	conn: textFlag('ID', 'the ConnID of the connection; optional if there is only one'),
	from: {
		...booleanFlag('prints only bytes from the side that opened the connection'),
		read: (name, input) => {
			if (input.has(name) && input.has('to'))
				throw usageError(
					'--from and --to exclude each other.',
					'Use one of them, or neither for both directions.',
				);
			return input.has(name);
		},
	},
	to: booleanFlag('prints only bytes sent to that side'),
	...stderrLogOptions,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'prints the bytes of one connection in a traffic log',
	usage: [['bridge decode LOG… [--conn ID] [--from|--to]']],
	details: `LOG is a log file of bridge raw, or a folder of them; - is stdin. Several logs are merged by time. Without
--from or --to, both directions are printed in the order in which they passed.`,
	options,
	maxPositionals: Number.POSITIVE_INFINITY,
	examples: ['bridge decode ./logs --conn 0Ab3xYz9 --to | gunzip'],
	exitCodes:
		'0 success, 1 the connection does not exist, or lines of it are missing or damaged, 2 invalid arguments',
	run: ({positionals: words, options}, {stop}) => decode(words, options, stop),
});

/** Prints the bytes of one connection in their recorded order. */
async function decode(names: readonly string[], flags: Flags, stop: StopSignals): Promise<number> {
	if (names.length === 0) throw usageError('bridge decode needs a log.', 'Write: bridge decode LOG');
	const files = listLogFiles(names.map(pathOf));
	const conn = flags.conn ?? (await onlyConnection(files));
	const decoder = new ConnectionDecoder(conn, flags.from ? 'from' : flags.to ? 'to' : undefined);
	const printed = await Promise.race([print(decoder, files), stop.requested.then(() => 'stopped' as const)]);
	if (printed === 'unread') return 0;
	if (printed === 'stopped') return 1;
	if (!decoder.isFound) throw unknownConnectionError(conn);
	return reportMissing(decoder, flags);
}

/** Returns the path of a log. Also accepts the @DIR syntax of bridge raw. `-` is stdin. */
const pathOf = (name: string): string => (name === '-' ? '/dev/stdin' : name.replace(/^@/, ''));

/** Prints all bytes, or stops early when the reader closes stdout. */
async function print(decoder: ConnectionDecoder, files: readonly LogFile[]): Promise<'all' | 'unread'> {
	const write = openStdout();
	for await (const chunk of readLogLines(files)) {
		const parts = chunk.flatMap(line => decoder.decode(line) ?? []);
		const isRead = await write(Buffer.concat(parts)).then(
			() => true,
			() => false,
		);
		if (!isRead) return 'unread';
	}
	return 'all';
}

/** Logs what is missing or broken. Returns the exit code. */
async function reportMissing({missing}: ConnectionDecoder, flags: Flags): Promise<number> {
	const {gapLines, brokenLines, presumedClient, hasCloseEvent} = missing;
	const {log, stderr} = createStderrLog(flags);
	if (presumedClient !== undefined)
		log.error(
			'decode.beginning',
			`The beginning of the connection is missing. ${presumedClient} is assumed to be the client.`,
		);
	if (gapLines > 0)
		log.error('decode.gap', `The output is incomplete. Lines missing from the log: ${gapLines}.`);
	if (brokenLines > 0) log.error('decode.broken', `Unreadable lines were skipped: ${brokenLines}.`);
	if (!hasCloseEvent) log.warn('decode.end', 'The log ends before the connection does.');
	await log.flush();
	await stderr.close();
	return presumedClient !== undefined || gapLines > 0 || brokenLines > 0 ? 1 : 0;
}

/** Returns the id of the only connection. Throws if there are several or none. */
async function onlyConnection(files: readonly LogFile[]): Promise<string> {
	if (files.some(({isPipe}) => isPipe)) throw pipedLogError();
	const ids = new Set<string>();
	for await (const chunk of readLogLines(files)) {
		for (const line of chunk) {
			const id = connectionIdOf(line);
			if (id !== undefined) ids.add(id);
		}
		if (ids.size > MAX_IDS) break;
	}
	const [only] = ids;
	if (only !== undefined && ids.size === 1) return only;
	if (only === undefined)
		throw new BridgeError(
			'ERR_UPSTREAM_INVALID',
			'The log contains no connections.',
			'The lines of a connection have a ConnID. See docs/raw.md.',
		);
	const some = [...ids].slice(0, MAX_IDS).join(', ');
	throw usageError(
		`The log contains several connections: ${some}${ids.size > MAX_IDS ? ', …' : ''}.`,
		'Select one with --conn ID.',
	);
}

const pipedLogError = (): BridgeError =>
	usageError('A piped log can only be read once.', 'Select the connection with --conn ID.');

const unknownConnectionError = (conn: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`The log contains no connection ${conn}.`,
		'The ids of its connections are the ConnID values of its lines.',
	);
