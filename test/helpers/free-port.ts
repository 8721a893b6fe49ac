import {createSocket} from 'node:dgram';
import {type EventEmitter, once} from 'node:events';
import {createServer} from 'node:net';
import process from 'node:process';

/** Ports that the system gives to nobody by itself: those that it does begin at 32768. */
const FIRST = 10_000;
const COUNT = 22_000;
/** More than any file of tests asks for, so that those which run at the same time seldom try the same ones. */
const PER_PROCESS = 100;

let next = process.pid * PER_PROCESS;

/** A port of TCP that nobody listens on, and that no other test is given while this process lives. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = FIRST + (next++ % COUNT);
		if ((await isKept(port)) && (await isFree(port))) return port;
	}
}

/** Keeps others who ask here from a port: it has the same one of UDP, which is in the way of nobody else. */
async function isKept(port: number): Promise<boolean> {
	const socket = createSocket('udp4').unref();
	socket.bind(port, '127.0.0.1');
	const isOurs = await isListening(socket);
	if (!isOurs) socket.close();
	return isOurs;
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
