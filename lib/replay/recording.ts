import {closeSync, openSync, readSync} from 'node:fs';
import {BridgeError} from '../core/errors.js';
import {
	type LogContents,
	type LogRange,
	type RecordedConnection,
	readLogContents,
	TooManyMessagesError,
} from '../traffic-log/log-contents.js';
import type {LogFile} from '../traffic-log/log-files.js';
import {decodePercentText} from '../wire/percent-text.js';

/** A log that is open for reading at any position. */
export class Recording {
	readonly contents: LogContents;
	readonly #fds: readonly number[];

	private constructor(contents: LogContents, handles: readonly number[]) {
		this.contents = contents;
		this.#fds = handles;
	}

	/** Indexes a log and opens its files. */
	static async open(
		path: string,
		files: readonly LogFile[],
		conn: string | undefined,
		onRead?: (bytes: number) => void,
	): Promise<Recording> {
		if (files.some(({isPipe}) => isPipe)) throw notAFile(path);
		const contents = await readLogContents(files, conn, onRead).catch(error => {
			throw error instanceof TooManyMessagesError ? tooManyMessages(path) : error;
		});
		return new Recording(
			contents,
			files.map(file => openSync(file.path, 'r')),
		);
	}

	bytes({file, start, length}: LogRange): Buffer {
		const bytes = Buffer.allocUnsafe(length);
		let filled = 0;
		while (filled < length) {
			const read = readSync(this.#fds[file] as number, bytes, filled, length - filled, start + filled);
			if (read === 0) throw logTruncated();
			filled += read;
		}
		return bytes;
	}

	/** Returns a message with a line feed. */
	line(range: LogRange): Buffer {
		return Buffer.concat([this.bytes(range), Buffer.from('\n')]);
	}

	body(range: LogRange): {readonly [key: string]: unknown} {
		return JSON.parse(this.bytes(range).toString());
	}

	/** Returns the decoded bytes of a chunk. */
	data(range: LogRange): Buffer {
		return decodePercentText(JSON.parse(this.bytes(range).toString()));
	}

	close(): void {
		for (const handle of this.#fds) closeSync(handle);
	}
}

const MAX_SHOWN = 20;

/**
 * Selects the connections to replay. Without `conn`, they have to be connections of clients to one server.
 * The log of a hub also contains its connections to upstreams, in which the hub is the client.
 */
export function selectConnections(
	{contents}: Recording,
	conn: string | undefined,
	isEligible: (connection: RecordedConnection) => boolean,
): readonly RecordedConnection[] {
	const all = contents.connections.filter(isEligible);
	if (all.length === 0) throw nothingToReplay(conn, contents);
	if (conn !== undefined) return all;
	const ofClients = all.filter(({client}) => client === 'client');
	const candidates = ofClients.length > 0 ? ofClients : all;
	const servers = new Set(candidates.map(({server}) => server));
	if (servers.size > 1) throw severalServers(all);
	return candidates;
}

const nothingToReplay = (conn: string | undefined, {connections}: LogContents): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		conn === undefined
			? 'The log contains nothing to replay.'
			: `The log contains no connection ${conn} to replay.`,
		connections.some(({chunks}) => chunks.length > 0)
			? 'It has raw bytes: replay them with --raw.'
			: 'Record a session with bridge --log FILE -- COMMAND.',
	);

function severalServers(all: readonly RecordedConnection[]): BridgeError {
	const rows = all
		.slice(0, MAX_SHOWN)
		.map(({id, client, server, messages}) => `  ${id}  ${client} → ${server}, messages: ${messages.length}`);
	const rest = all.length > MAX_SHOWN ? `  … and ${all.length - MAX_SHOWN} more\n` : '';
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		`There are connections to several servers in the log:\n${rows.join('\n')}\n${rest}`,
		'Name one with --conn ID.',
	);
}

const notAFile = (path: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${path} is not a regular file, and a replay reads the log more than once.`,
		'Save it to a file first.',
	);

const tooManyMessages = (path: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${path} has more messages than can be replayed at once.`,
		'Name one connection with --conn ID.',
	);

const logTruncated = (): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'The log was truncated during the replay.',
		'Replay a log that no program writes to.',
	);
