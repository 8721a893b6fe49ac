import {HOSTILE_TOKEN} from '../services.js';
import {type Attack, connect, firstBytes, pause, write} from './ground.js';

/** An empty ping, and one with 125 bytes, both with a mask of zeros. */
const EMPTY = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
const FULL = Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)]);
const CHUNK = 65_536;
const CHUNK_MS = 10;

const UPGRADE = [
	'GET /mcp/shared HTTP/1.1',
	'Host: localhost',
	`X-Bridge-Token: ${HOSTILE_TOKEN}`,
	'Upgrade: websocket',
	'Connection: Upgrade',
	'Sec-WebSocket-Version: 13',
	'Sec-WebSocket-Protocol: mcp',
	'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** A WebSocket that sends pings and never reads the pongs. */
export const ping: Attack = async ground => {
	const {number, count, isOver} = ground;
	const frame = number % 2 ? FULL : EMPTY;
	const frames = Buffer.concat(Array(Math.floor(CHUNK / frame.length)).fill(frame));
	while (!isOver()) {
		const socket = await connect(ground);
		socket.write(`${UPGRADE.join('\r\n')}\r\n\r\n`);
		const isOpen = (await firstBytes(socket)).startsWith('HTTP/1.1 101');
		socket.pause();
		while (isOpen && !socket.closed && !isOver()) {
			count('KiB of pings', CHUNK / 1024);
			await write(socket, frames);
			await pause(CHUNK_MS);
		}
		count(isOpen ? 'disconnected' : 'rejected');
		socket.destroy();
		await pause();
	}
};
