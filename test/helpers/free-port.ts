import {createSocket} from 'node:dgram';
import {type EventEmitter, once} from 'node:events';
import {createServer} from 'node:net';
import process from 'node:process';

/** Ports below those that the system assigns itself, which start at 32768. */
const FIRST = 10_000;
const COUNT = 22_000;
/** More than a test file needs, so that concurrent files rarely try the same ports. */
const PER_PROCESS = 100;

let next = process.pid * PER_PROCESS;

/** A TCP port without a listener, which no other test gets while this process runs. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = FIRST + (next++ % COUNT);
		if ((await reserve(port)) && (await isFree(port))) return port;
	}
}

/**
 * Reserves a port among test processes by binding the UDP port with its number, which bridge does not use.
 */
async function reserve(port: number): Promise<boolean> {
	const socket = createSocket('udp4').unref();
	socket.bind(port, '127.0.0.1');
	const isReserved = await isListening(socket);
	if (!isReserved) socket.close();
	return isReserved;
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer().listen(port, '127.0.0.1');
	if (!(await isListening(server))) return false;
	server.close();
	await once(server, 'close');
	return true;
}

const isListening = (listener: EventEmitter): Promise<boolean> =>
	once(listener, 'listening').then(
		() => true,
		() => false,
	);
