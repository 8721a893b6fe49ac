import {once} from 'node:events';
import {type AddressInfo, connect, createServer, type Server, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';
import type {Log} from '../../lib/core/log.js';
import type {TrafficLine} from '../../lib/traffic-log/records.js';

/** A log that records the names of its events. */
export function quietLog(): Log & {readonly events: string[]} {
	const events: string[] = [];
	const entry = (event: string): void => void events.push(event);
	const levels = {error: entry, warn: entry, info: entry, debug: entry, trace: entry};
	return {...levels, events, flush: async () => {}};
}

/** A TCP server on a free port. */
export async function target(t: ExecutionContext, accept: (socket: Socket) => void): Promise<number> {
	const server: Server = createServer({allowHalfOpen: true}, socket => {
		socket.on('error', () => {});
		t.teardown(() => socket.destroy());
		accept(socket);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	return (server.address() as AddressInfo).port;
}

export function client(t: ExecutionContext, port: number): Socket {
	const socket = connect({port, host: '127.0.0.1', allowHalfOpen: true});
	socket.on('error', () => {});
	t.teardown(() => socket.destroy());
	return socket;
}

/** Reads a socket to its end. */
export async function read(socket: Socket): Promise<string> {
	const chunks: Buffer[] = [];
	socket.on('data', chunk => void chunks.push(chunk as Buffer));
	await once(socket, 'end');
	return Buffer.concat(chunks).toString('latin1');
}

/** A line as it will be written to the log, with an empty time. */
export const lineOf = ({head, data, tail}: TrafficLine): {readonly [key: string]: unknown} =>
	JSON.parse(
		`{"time":"${head}${data ? JSON.stringify(data.toString('latin1')).slice(1, -1) : ''}${tail ?? ''}`,
	);
