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

/** So many ids are enough to choose from. */
const MAX_IDS = 20;

const options = {
	conn: textFlag('ID', 'the connection, by its ConnID; may be left out where there is only one'),
	from: {
		...booleanFlag('prints what came from the side that opened the connection'),
		read: (name, given) => {
			if (given.has(name) && given.has('to'))
				throw usageError('There are --from and --to.', 'Give one, or none for both directions.');
			return given.has(name);
		},
	},
	to: booleanFlag('prints what was sent to it'),
	...stderrLogOptions,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'the bytes of one connection, out of a traffic log',
	usage: [['bridge decode LOG… [--conn ID] [--from|--to]']],
	details: `LOG is a file of bridge raw, or the folder that its files are in; - is stdin. Several are read in the order of time. Without
--from or --to, both directions are printed in the order in which they passed.`,
	options,
	maxPositionals: Number.POSITIVE_INFINITY,
	examples: ['bridge decode ./logs --conn 0Ab3xYz9 --to | gunzip'],
	exitCodes: '0 fine, 1 there is no such connection, or lines of it are missing or broken, 2 wrong arguments',
	run: ({positionals: words, options}, {stop}) => decode(words, options, stop),
});

/** Prints the bytes of one connection, as they passed. */
async function decode(names: readonly string[], flags: Flags, stop: StopSignals): Promise<number> {
	if (names.length === 0) throw usageError('bridge decode has no log.', 'Write: bridge decode LOG');
	const files = listLogFiles(names.map(pathOf));
	const conn = flags.conn ?? (await onlyConnection(files));
	const decoder = new ConnectionDecoder(conn, flags.from ? 'from' : flags.to ? 'to' : undefined);
	const printed = await Promise.race([print(decoder, files), stop.requested.then(() => 'stopped' as const)]);
	if (printed === 'unread') return 0;
	if (printed === 'stopped') return 1;
	if (!decoder.isFound) throw unknownConnectionError(conn);
	return reportMissing(decoder, flags);
}

/** A log is named as on the command line of raw, too; `-` is stdin. */
const pathOf = (name: string): string => (name === '-' ? '/dev/stdin' : name.replace(/^@/, ''));

/** Prints all of it, or what somebody reads of it. */
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

/** Says what is missing, which is the exit code as well. */
async function reportMissing({missing}: ConnectionDecoder, flags: Flags): Promise<number> {
	const {gapLines, brokenLines, presumedClient, hasCloseEvent: hasEnd} = missing;
	const {log, stderr} = createStderrLog(flags);
	if (presumedClient !== undefined)
		log.error(
			'decode.beginning',
			`The log does not have the beginning; ${presumedClient} is taken for the client.`,
		);
	if (gapLines > 0)
		log.error('decode.gap', `What is printed is not all. Lines that the log lacks: ${gapLines}.`);
	if (brokenLines > 0)
		log.error('decode.broken', `Lines that could not be read, and were left out: ${brokenLines}.`);
	if (!hasEnd) log.warn('decode.end', 'The log ends before the connection does.');
	await log.flush();
	await stderr.close();
	return presumedClient !== undefined || gapLines > 0 || brokenLines > 0 ? 1 : 0;
}

/** The id of the connection that is meant where none is named. */
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
			'There is no connection in the log.',
			'Each line of one has its ConnID: see docs/raw.md.',
		);
	const some = [...ids].slice(0, MAX_IDS).join(', ');
	throw usageError(
		`There are several connections in the log: ${some}${ids.size > MAX_IDS ? ', …' : ''}.`,
		'Name one with --conn ID.',
	);
}

const pipedLogError = (): BridgeError =>
	usageError('What comes through a pipe is read once.', 'Name the connection with --conn ID.');

const unknownConnectionError = (conn: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`There is no connection ${conn} in the log.`,
		'Its ids are what ConnID is in each line.',
	);
