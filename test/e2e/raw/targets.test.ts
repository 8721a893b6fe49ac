import {once} from 'node:events';
import {createServer, get, request} from 'node:http';
import {type AddressInfo, connect, type Server} from 'node:net';
import {connect as connectTls, createServer as createTlsServer} from 'node:tls';
import test, {type ExecutionContext} from 'ava';
import {selfSigned} from './certificate.js';
import {bytesFrom, type Line, type Raw, startRaw} from './support.js';

/** A bridge in front of a server of Node, which is closed with the test. */
async function inFrontOf(t: ExecutionContext, server: Server): Promise<{raw: Raw; target: string}> {
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	const {port} = server.address() as AddressInfo;
	const raw = await startRaw(t, ['--flush-millis', '20', `0:localhost:${port}`]);
	return {raw, target: `localhost:${port}`};
}

/** What the only client of a bridge has said, and what it heard, once it has ended. */
async function conversation(
	raw: Raw,
	target: string,
): Promise<{asked: Buffer; answered: Buffer; lines: Line[]}> {
	const {from = ''} = await raw.line(({event}) => event === 'open');
	const lines = await raw.connection(from);
	return {asked: bytesFrom(lines, from), answered: bytesFrom(lines, target), lines};
}

test('forwards HTTP unchanged and logs request and response byte for byte', async t => {
	const server = createServer((req, res) => {
		res.setHeader('x-path', req.url ?? '');
		req.pipe(res);
	});
	const {raw, target} = await inFrontOf(t, server);
	const options = {port: raw.port, path: '/echo?a=b%20c', method: 'POST', headers: {connection: 'close'}};
	const req = request({host: '127.0.0.1', ...options}).end('a body, é');
	const [res] = await once(req, 'response');
	let body = '';
	for await (const chunk of res) body += chunk;
	t.is(res.statusCode, 200);
	t.is(res.headers['x-path'], '/echo?a=b%20c');
	t.is(body, 'a body, é');
	const {asked, answered} = await conversation(raw, target);
	t.regex(String(asked), /^POST \/echo\?a=b%20c HTTP\/1\.1\r\n/);
	t.true(String(asked).includes('a body, é'));
	t.regex(String(answered), /^HTTP\/1\.1 200 OK\r\n/i);
	t.true(String(answered).includes('a body, é'));
});

test('forwards a long chunked HTTP response completely', async t => {
	const server = createServer((_req, res) => {
		for (let index = 0; index < 2000; index++) res.write(`part ${index} ${'x'.repeat(1000)}\n`);
		res.end();
	});
	const {raw, target} = await inFrontOf(t, server);
	const [res] = await once(get({port: raw.port, headers: {connection: 'close'}}), 'response');
	let size = 0;
	for await (const {length} of res) size += length;
	t.true(size > 2_000_000);
	t.true((await conversation(raw, target)).answered.length > size);
});

test('forwards a TLS session to its end and logs only the encrypted bytes [SIMPLE_017]', async t => {
	const {cert, key} = selfSigned();
	const server = createTlsServer({cert, key}, socket => socket.on('error', () => {}).pipe(socket));
	const {raw, target} = await inFrontOf(t, server);
	const below = connect(raw.port, '127.0.0.1');
	const socket = connectTls({socket: below, servername: 'localhost', ca: cert});
	await once(socket, 'secureConnect');
	t.true(socket.authorized);
	const received: Buffer[] = [];
	socket.on('data', chunk => received.push(chunk));
	socket.end('the secret words');
	await once(socket, 'end');
	t.is(String(Buffer.concat(received)), 'the secret words');
	const {asked, answered, lines} = await conversation(raw, target);
	// A handshake record of TLS, both ways.
	t.deepEqual([...asked.subarray(0, 2)], [0x16, 0x03]);
	t.deepEqual([...answered.subarray(0, 2)], [0x16, 0x03]);
	t.false(JSON.stringify(lines).includes('secret words'));
	t.is(asked.length, below.bytesWritten);
	t.is(answered.length, below.bytesRead);
});
