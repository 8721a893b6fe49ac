import {once} from 'node:events';
import {createServer, get, request} from 'node:http';
import {type AddressInfo, connect, type Server} from 'node:net';
import {connect as connectTls, createServer as createTlsServer} from 'node:tls';
import test, {type ExecutionContext} from 'ava';
import {selfSigned} from './certificate.js';
import {bytesFrom, type Line, type Raw, startRaw} from './support.js';

/** Starts a Node server and a bridge in front of it, and closes both after the test. */
async function startInFrontOf(t: ExecutionContext, server: Server): Promise<{raw: Raw; target: string}> {
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	const {port} = server.address() as AddressInfo;
	const raw = await startRaw(t, ['--flush-millis', '20', `0:localhost:${port}`]);
	return {raw, target: `localhost:${port}`};
}

/** The logged bytes and lines of the only connection, once it is closed. */
async function loggedConnection(
	raw: Raw,
	target: string,
): Promise<{sent: Buffer; received: Buffer; lines: Line[]}> {
	const {from = ''} = await raw.line(({event}) => event === 'open');
	const lines = await raw.connection(from);
	return {sent: bytesFrom(lines, from), received: bytesFrom(lines, target), lines};
}

test('forwards HTTP unchanged and logs request and response byte for byte', async t => {
	const server = createServer((req, res) => {
		res.setHeader('x-path', req.url ?? '');
		req.pipe(res);
	});
	const {raw, target} = await startInFrontOf(t, server);
	const options = {port: raw.port, path: '/echo?a=b%20c', method: 'POST', headers: {connection: 'close'}};
	const req = request({host: '127.0.0.1', ...options}).end('a body, é');
	const [res] = await once(req, 'response');
	let body = '';
	for await (const chunk of res) body += chunk;
	t.is(res.statusCode, 200);
	t.is(res.headers['x-path'], '/echo?a=b%20c');
	t.is(body, 'a body, é');
	const {sent, received} = await loggedConnection(raw, target);
	t.regex(String(sent), /^POST \/echo\?a=b%20c HTTP\/1\.1\r\n/);
	t.true(String(sent).includes('a body, é'));
	t.regex(String(received), /^HTTP\/1\.1 200 OK\r\n/i);
	t.true(String(received).includes('a body, é'));
});

test('forwards a long chunked HTTP response completely', async t => {
	const server = createServer((_req, res) => {
		for (let index = 0; index < 2000; index++) res.write(`part ${index} ${'x'.repeat(1000)}\n`);
		res.end();
	});
	const {raw, target} = await startInFrontOf(t, server);
	const [res] = await once(get({port: raw.port, headers: {connection: 'close'}}), 'response');
	let size = 0;
	for await (const {length} of res) size += length;
	t.true(size > 2_000_000);
	t.true((await loggedConnection(raw, target)).received.length > size);
});

test('forwards a TLS session to its end and logs only the encrypted bytes [SIMPLE_017]', async t => {
	const {cert, key} = selfSigned();
	const server = createTlsServer({cert, key}, socket => socket.on('error', () => {}).pipe(socket));
	const {raw, target} = await startInFrontOf(t, server);
	const tcp = connect(raw.port, '127.0.0.1');
	const socket = connectTls({socket: tcp, servername: 'localhost', ca: cert});
	await once(socket, 'secureConnect');
	t.true(socket.authorized);
	const decrypted: Buffer[] = [];
	socket.on('data', chunk => decrypted.push(chunk));
	socket.end('the secret words');
	await once(socket, 'end');
	t.is(String(Buffer.concat(decrypted)), 'the secret words');
	const {sent, received, lines} = await loggedConnection(raw, target);
	// Both directions start with a TLS handshake record.
	t.deepEqual([...sent.subarray(0, 2)], [0x16, 0x03]);
	t.deepEqual([...received.subarray(0, 2)], [0x16, 0x03]);
	t.false(JSON.stringify(lines).includes('secret words'));
	t.is(sent.length, tcp.bytesWritten);
	t.is(received.length, tcp.bytesRead);
});
