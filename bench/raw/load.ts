import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {median} from '../results.js';

const HEADER = 16;
const PING = Buffer.alloc(64, 'x');
const READ_BYTES = 1 << 18;

/** The request header of programs/tcp-target.ts. */
const header = (role: 'E' | 'D', bytes = 0): string => `${role}${bytes}`.padEnd(HEADER);

const opened = async (socket: Socket): Promise<Socket> => {
	await once(socket, 'connect');
	socket.on('error', () => socket.destroy());
	return socket;
};

/** Sends small messages back and forth for a given time. Returns their median in µs. */
export const roundTrips = async (port: number, ms: number): Promise<number> => {
	const socket = await opened(connect({port, host: '127.0.0.1', noDelay: true}));
	const times: number[] = [];
	const giveUp = performance.now() + ms;
	let sent = 0;
	let missing = 0;
	const ping = (): void => {
		missing = PING.length;
		sent = performance.now();
		socket.write(PING);
	};
	socket.on('data', ({length}) => {
		missing -= length;
		if (missing > 0) {
			return;
		}
		times.push((performance.now() - sent) * 1000);
		if (performance.now() < giveUp) {
			ping();
		} else {
			socket.destroy();
		}
	});
	socket.write(header('E'));
	ping();
	await once(socket, 'close');
	// The first tenth runs code that is not compiled yet.
	return median(times.slice(times.length / 10)) ?? Number.NaN;
};

export type Download = {readonly bytes: number; readonly mbPerSecond: number};

/** Downloads this number of bytes within a time limit. `onBytes` gets the bytes received so far. */
export const download = async (
	port: number,
	bytes: number,
	ms: number,
	onBytes: (bytes: number) => void = () => undefined,
): Promise<Download> => {
	let read = 0;
	const start = performance.now();
	const onread = {
		buffer: Buffer.allocUnsafe(READ_BYTES),
		callback: (count: number): boolean => {
			read += count;
			onBytes(read);
			if (read >= bytes || performance.now() - start > ms) {
				socket.destroy();
			}
			return true;
		},
	};
	const socket = connect({port, host: '127.0.0.1', noDelay: true, onread});
	const closed = once(socket, 'close');
	await opened(socket);
	socket.write(header('D', bytes));
	const timer = setTimeout(() => socket.destroy(), ms + 1000);
	await closed;
	clearTimeout(timer);
	return {bytes: read, mbPerSecond: read / 1000 / (performance.now() - start)};
};
