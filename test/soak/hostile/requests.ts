import type {Socket} from 'node:net';
import {
	type Attack,
	connect,
	exchange,
	initialize,
	keepSending,
	openSession,
	pause,
	postBytes,
	rpc,
	write,
} from './ground.js';

const BURST = 100;
const BURST_MS = 250;
const BLOB_BYTES = 8_000_000;
/** Connections that one client leaves unread. */
const UNREAD = 30;
const UNREAD_MS = 500;
const PER_SESSION = 10;
const STORM_MS = 50;
const MAX_DELAY_MS = 8;
const GIANT = 'x'.repeat(16 * 2 ** 20);
const GIANT_MS = 1000;
/** Maximum number of pending giant requests of a client. */
const GIANTS = 4;

/** Bursts of pipelined requests, each in its own session; one client without credentials. */
export const flood: Attack = async ground => {
	const {number, count, isOver} = ground;
	const token = number === 3 ? '' : undefined;
	while (!isOver()) {
		const session = token === '' ? 'X-None: 1' : await openSession(ground, '/mcp/shared');
		const socket = await connect(ground);
		socket.resume();
		for (let burst = 0; session !== undefined && !socket.closed && !isOver(); burst++) {
			const bytes = Array.from({length: BURST}, (_, at) =>
				postBytes('/mcp/shared', rpc(burst * BURST + at, at % 2 ? 'ping' : 'tools/list'), [session], token),
			);
			count('requests', BURST);
			await write(socket, bytes.join(''));
			await pause(BURST_MS);
		}
		socket.destroy();
		await pause();
	}
};

/** Requests for large results that are never read. */
export const neverRead: Attack = async ground => {
	const {number, count, isOver} = ground;
	const path = ['/mcp/remote', '/mcp/remote', '/mcp/shared'][number % 3] ?? '';
	const call = {name: 'blob', arguments: {bytes: BLOB_BYTES}};
	const unread = new Set<Socket>();
	let session: string | undefined;
	for (let id = 0; !isOver(); await pause(UNREAD_MS)) {
		// A paused socket detects its close only on a write. Empty lines between requests are valid HTTP.
		for (const socket of unread) socket.write('\r\n');
		if (unread.size >= UNREAD) continue;
		// Other hostile clients of the principal cause the eviction of unused sessions.
		if (id++ % PER_SESSION === 0) session = undefined;
		session ??= await openSession(ground, path);
		if (session === undefined) continue;
		const socket = await connect(ground);
		unread.add(socket);
		socket.pause().once('close', () => {
			unread.delete(socket);
			count('closed by the gateway');
		});
		socket.write(postBytes(path, rpc(id, 'tools/call', call), [session]));
		count('requests');
	}
};

/** Opens sessions with a process each, and disconnects before the response. */
export const reconnect: Attack = async ground => {
	const {random, count, isOver} = ground;
	while (!isOver()) {
		const socket = await connect(ground);
		socket.resume().write(postBytes('/mcp/light', initialize()));
		count('initialize requests');
		await pause(random() * MAX_DELAY_MS);
		socket.resetAndDestroy();
		await pause(STORM_MS);
	}
};

const META = 'io.modelcontextprotocol/';

/** Requests with 16 MiB of client capabilities: with a handshake, without one, and without credentials. */
export const giant: Attack = async ground => {
	const {number, count} = ground;
	const experimental = {giant: {text: GIANT}};
	const capabilities = {experimental};
	const _meta = {
		[`${META}protocolVersion`]: '2026-07-28',
		[`${META}clientInfo`]: {name: 'hostile', version: '1'},
		[`${META}clientCapabilities`]: capabilities,
	};
	const modern = ['MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: ping'];
	const bytes = [
		postBytes('/mcp/shared', initialize(capabilities)),
		postBytes('/mcp/shared', rpc(1, 'ping', {_meta}), modern),
		postBytes('/mcp/shared', initialize(capabilities), [], ''),
	][number % 3];
	await keepSending(ground, {paceMs: GIANT_MS, limit: GIANTS}, async () => {
		const status = await exchange(ground, bytes ?? '');
		count(`HTTP ${status ?? 'connection closed'}`);
	});
};
