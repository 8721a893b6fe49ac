// The TCP server behind forwarders: echoes, or sends the requested amount of text. Usage: `node
// tcp-target.js PORT`. The first 16 bytes of a connection select the mode: E, or D and a number of bytes,
// padded with spaces.

import {createServer, type Socket} from 'node:net';

const HEADER = 16;
const BLOCK = 65_536;
const line =
	'{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"search","arguments":{"q":"50% of\\tusers"}}}\r\n';
const block = Buffer.from(line.repeat(Math.ceil(BLOCK / line.length)).slice(0, BLOCK));

const send = (socket: Socket, bytes: number): void => {
	let left = bytes;
	const pump = (): void => {
		while (left > 0 && socket.writable) {
			const piece = left < BLOCK ? block.subarray(0, left) : block;
			left -= piece.length;
			if (!socket.write(piece)) {
				socket.once('drain', pump);
				return;
			}
		}
		socket.end();
	};
	pump();
};

createServer({noDelay: true, highWaterMark: 1 << 20}, socket => {
	let header = Buffer.alloc(0);
	socket.on('error', () => socket.destroy());
	socket.on('data', function readHeader(chunk: Buffer) {
		header = Buffer.concat([header, chunk]);
		if (header.length < HEADER) {
			return;
		}
		socket.off('data', readHeader);
		const text = header.toString('latin1', 0, HEADER);
		if (text.startsWith('D')) {
			socket.resume();
			send(socket, Number(text.slice(1)));
			return;
		}
		socket.write(header.subarray(HEADER));
		socket.pipe(socket);
	});
}).listen(Number(process.argv[2]), '127.0.0.1');
