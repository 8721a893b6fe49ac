import {BridgeError} from '../../lib/errors.js';
import {connIdIn, Decoder} from '../../lib/store/decode.js';
import {type LogFile, linesOf, logFiles} from '../../lib/store/log-files.js';
import {ownStdout} from '../../lib/transports/own-stdout.js';
import {defineCommand} from '../cli/command.js';
import {flag, type Options, text, type Values} from '../cli/option.js';
import {ownLogOptions} from '../cli/options.js';
import {ownLog} from '../common/observers.js';
import type {Stop} from '../common/signals.js';
import {invalid} from '../common/values.js';

/** So many ids are enough to choose from. */
const MAX_IDS = 20;

const options = {
	conn: text('ID', 'the connection, by its ConnID; may be left out where there is only one'),
	from: {
		...flag('prints what came from the side that opened the connection'),
		read: (name, given) => {
			if (given.isGiven(name) && given.isGiven('to'))
				throw invalid('There are --from and --to.', 'Give one, or none for both directions.');
			return given.isGiven(name);
		},
	},
	to: flag('prints what was sent to it'),
	...ownLogOptions,
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'the bytes of one connection, out of a traffic log',
	usage: [['bridge decode LOG… [--conn ID] [--from|--to]']],
	details: `LOG is a file of bridge raw, or the folder that its files are in; - is stdin. Several are read in the order of time. Without
--from or --to, both directions are printed in the order in which they passed.`,
	options,
	maxWords: Number.POSITIVE_INFINITY,
	examples: ['bridge decode ./logs --conn 0Ab3xYz9 --to | gunzip'],
	exitCodes: '0 fine, 1 there is no such connection, or lines of it are missing or broken, 2 wrong arguments',
	run: ({words, options}, {stop}) => decode(words, options, stop),
});

/** Prints the bytes of one connection, as they passed. */
async function decode(names: readonly string[], flags: Flags, stop: Stop): Promise<number> {
	if (names.length === 0) throw invalid('bridge decode has no log.', 'Write: bridge decode LOG');
	const files = logFiles(names.map(pathOf));
	const conn = flags.conn ?? (await onlyConnection(files));
	const decoder = new Decoder(conn, flags.from ? 'from' : flags.to ? 'to' : undefined);
	const printed = await Promise.race([print(decoder, files), stop.asked.then(() => 'stopped' as const)]);
	if (printed === 'unread') return 0;
	if (printed === 'stopped') return 1;
	if (!decoder.isFound) throw unknown(conn);
	return tell(decoder, flags);
}

/** A log is named as on the command line of raw, too; `-` is stdin. */
const pathOf = (name: string): string => (name === '-' ? '/dev/stdin' : name.replace(/^@/, ''));

/** Prints all of it, or what somebody reads of it. */
async function print(decoder: Decoder, files: readonly LogFile[]): Promise<'all' | 'unread'> {
	const write = ownStdout();
	for await (const chunk of linesOf(files)) {
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
async function tell({missing}: Decoder, flags: Flags): Promise<number> {
	const {gapLines, brokenLines, presumedClient, hasEnd} = missing;
	const {log, stderr} = ownLog(flags);
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
	if (files.some(({isPipe}) => isPipe)) throw readOnce();
	const ids = new Set<string>();
	for await (const chunk of linesOf(files)) {
		for (const line of chunk) {
			const id = connIdIn(line);
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
	throw invalid(
		`There are several connections in the log: ${some}${ids.size > MAX_IDS ? ', …' : ''}.`,
		'Name one with --conn ID.',
	);
}

const readOnce = (): BridgeError =>
	invalid('What comes through a pipe is read once.', 'Name the connection with --conn ID.');

const unknown = (conn: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`There is no connection ${conn} in the log.`,
		'Its ids are what ConnID is in each line.',
	);
