// The limit of raw TCP: a Node process between two sockets that only copies bytes. Usage: `node tcp-pipe.js
// PORT TARGET_PORT`.

import {connect, createServer} from 'node:net';

const [port, target] = process.argv.slice(2).map(Number);
createServer({noDelay: true, allowHalfOpen: true}, client => {
	const upstream = connect({port: target ?? 0, host: '127.0.0.1', noDelay: true, allowHalfOpen: true});
	client.pipe(upstream).pipe(client);
	client.on('error', () => upstream.destroy());
	upstream.on('error', () => client.destroy());
	client.on('close', () => upstream.destroy());
	upstream.on('close', () => client.destroy());
}).listen(port, '127.0.0.1');
