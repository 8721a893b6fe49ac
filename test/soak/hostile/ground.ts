import {createConnection, type Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {HOSTILE_TOKEN} from '../services.js';

/** The context of a hostile client. */
export type Ground = {
	readonly host: string;
	readonly port: number;
	/** The index among the clients of its kind. The last client of some kinds has no credentials. */
	readonly number: number;
	/** Returns a reproducible number from 0 to 1. */
	readonly random: () => number;
	readonly count: (what: string, by?: number) => void;
	readonly isOver: () => boolean;
};

export type Attack = (ground: Ground) => Promise<void>;

const PAUSE_MS = 100;
/** Bytes of a response that are kept. */
const MAX_KEPT = 65_536;

export const pause = (ms = PAUSE_MS): Promise<void> => sleep(ms);

/** Connects to the gateway. Also resolves if the connection is refused: writes to it then fail silently. */
export function connect({host, port, count}: Ground): Promise<Socket> {
	return new Promise(resolve => {
		const socket = createConnection(port, host);
		socket.on('error', () => count('connection errors'));
		socket.once('connect', () => resolve(socket)).once('close', () => resolve(socket));
	});
}

/** Resolves when the system has accepted all bytes or the connection is closed. */
export const write = (socket: Socket, bytes: string | Uint8Array): Promise<void> =>
	new Promise(resolve => void socket.write(bytes, () => resolve()));

/** The bytes of a POST, by default with the hostile token. */
export function postBytes(
	path: string,
	body: string,
	headers: readonly string[] = [],
	token = HOSTILE_TOKEN,
): string {
	const all = [
		'Host: localhost',
		'Content-Type: application/json',
		'Accept: application/json, text/event-stream',
		...(token === '' ? [] : [`X-Bridge-Token: ${token}`]),
		...headers,
		`Content-Length: ${Buffer.byteLength(body)}`,
	];
	return `POST ${path} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}

export const rpc = (id: number | string, method: string, params: object = {}): string =>
	JSON.stringify({jsonrpc: '2.0', id, method, params});

export const initialize = (more: object = {}): string =>
	rpc('first', 'initialize', {
		protocolVersion: '2025-11-25',
		capabilities: more,
		clientInfo: {name: 'hostile', version: '1'},
	});

/** The first bytes of a connection: a short response, or nothing if it closes before. */
export function firstBytes(socket: Socket): Promise<string> {
	return new Promise(resolve => {
		let text = '';
		const take = (chunk: Buffer): void => {
			text = (text + chunk.toString('latin1')).slice(0, MAX_KEPT);
			if (text.includes('\r\n\r\n')) done();
		};
		const done = (): void => {
			socket.off('data', take).off('close', done);
			resolve(text);
		};
		socket.on('data', take).once('close', done);
	});
}

/** Limit of the wait for a response. */
const DEADLINE_MS = 30_000;

/**
 * Sends a request over a separate connection. Resolves to the HTTP status, and discards the rest of the
 * response.
 */
export async function exchange(ground: Ground, bytes: string): Promise<string | undefined> {
	const socket = await connect(ground);
	const deadline = setTimeout(() => {
		ground.count('given up');
		socket.destroy();
	}, DEADLINE_MS);
	socket.write(bytes);
	const status = /^HTTP\/1\.1 (\d+)/.exec(await firstBytes(socket))?.[1];
	clearTimeout(deadline);
	// An unread response would turn this client into one that never reads.
	socket.resume();
	return status;
}

/** Calls `send` at a fixed pace, also while earlier calls are pending, up to a limit. */
export async function keepSending(
	{isOver, count}: Ground,
	{paceMs, limit}: {readonly paceMs: number; readonly limit: number},
	send: (id: number) => Promise<unknown>,
): Promise<void> {
	let pending = 0;
	const settled = (): void => {
		pending--;
	};
	for (let id = 0; !isOver(); await pause(paceMs)) {
		if (pending >= limit) continue;
		pending++;
		void send(id++).then(settled, error => {
			settled();
			count(`failed with ${error}`);
		});
	}
}

/** Opens a session. Resolves to its header, or to undefined if the gateway rejects it. */
export async function openSession(ground: Ground, path: string): Promise<string | undefined> {
	const socket = await connect(ground);
	socket.write(postBytes(path, initialize()));
	const id = /mcp-session-id: *(\S+)/i.exec(await firstBytes(socket))?.[1];
	socket.destroy();
	if (id === undefined) ground.count('sessions rejected');
	return id && `Mcp-Session-Id: ${id}`;
}
