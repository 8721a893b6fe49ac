import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {connect} from 'node:net';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {startRaw} from './support.js';
import {dial, ownAddress, readAll} from './tcp.js';

/** An echo server that accepts no connection until it reads a line on stdin. */
const program = `
	const server = require('node:net').createServer({allowHalfOpen: true}, socket => {
		socket.on('error', () => {});
		socket.pipe(socket);
	});
	server.listen({port: 0, host: '127.0.0.1', backlog: 1}, () => {
		require('node:fs').writeSync(1, server.address().port + '\\n');
		require('node:fs').readSync(0, Buffer.alloc(1));
	});`;

/** Starts the server and fills its backlog with connections. */
async function startSlow(t: ExecutionContext): Promise<{port: number; accept: () => void}> {
	const child = spawn(process.execPath, ['-e', program], {stdio: ['pipe', 'pipe', 'inherit']});
	t.teardown(() => child.kill('SIGKILL'));
	const [text] = await once(child.stdout, 'data');
	const port = Number(text);
	for (let isFull = false; !isFull; ) {
		const socket = connect(port, '127.0.0.1').on('error', () => {});
		t.teardown(() => socket.destroy());
		isFull = await Promise.race([once(socket, 'connect').then(() => false), sleep(300).then(() => true)]);
	}
	return {port, accept: () => void child.stdin.write('\n')};
}

test('forwards data to a target that is slow to accept once it accepts [I3]', async t => {
	const {port, accept} = await startSlow(t);
	const raw = await startRaw(t, ['--flush-millis', '20', `0:127.0.0.1:${port}`]);
	const client = await dial(raw.port);
	const address = ownAddress(client);
	const reply = readAll(client);
	client.end('sent before accept');
	await raw.line(({event, from}) => event === 'open' && from === address);
	t.false(raw.lines.some(({event}) => event === 'close'));
	accept();
	t.is(String(await reply), 'sent before accept');
	t.is((await raw.connection(address)).at(-1)?.event, 'close');
});

test('SIGTERM ends the process while a target has not yet accepted [I3]', async t => {
	const {port} = await startSlow(t);
	const raw = await startRaw(t, ['--flush-millis', '20', `0:127.0.0.1:${port}`]);
	const client = await dial(raw.port);
	client.write('never delivered');
	await raw.line(({event}) => event === 'open');
	t.is(await raw.stop(), 0);
	t.is(raw.lines.filter(({event}) => event === 'close').length, 1);
	client.destroy();
});
