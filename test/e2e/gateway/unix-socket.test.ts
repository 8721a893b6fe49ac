import {execFile} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, lstatSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {request as httpRequest} from 'node:http';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import {formatListenAddress, parseListenAddress} from '../../../lib/config/listen-address.js';
import {handshake, type Running} from '../../helpers/bridge.js';
import {program} from '../../helpers/gateway.js';
import {newFolder, start} from '../../helpers/program.js';
import {initialize} from '../../helpers/raw-requests.js';

/** Starts a gateway on a Unix socket. */
async function startOn(
	t: ExecutionContext,
	path: string,
	args: readonly string[] = [],
	limits = {},
): Promise<Running> {
	const file = join(await newFolder(t), 'bridge.json');
	const servers = {puppet: program('puppet')};
	await writeFile(file, JSON.stringify({listen: `unix:${path}`, servers, limits}));
	return start(t, ['gateway', '--config', file, ...args]);
}

/** Sends a request over a socket. Resolves with the status and the text of the response. */
async function send(
	socketPath: string,
	path: string,
	body?: string,
): Promise<{status: number; text: string}> {
	const headers = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
	const req = httpRequest({socketPath, path, method: body === undefined ? 'GET' : 'POST', headers}).end(body);
	const [res] = await once(req, 'response');
	let text = '';
	for await (const chunk of res) text += chunk;
	return {status: res.statusCode, text};
}

test('a gateway on a Unix socket serves clients of the same user, and removes the socket on exit [SEC-D19]', async t => {
	const path = join(await newFolder(t), 'bridge.sock');
	const running = await startOn(t, path);
	const [line] = await running.hasLines(1);
	t.true(line?.startsWith(`bridge gateway listens on unix:${path}, `));
	t.is(lstatSync(path).mode & 0o777, 0o600);
	t.is((await send(path, '/status')).status, 200);
	const {status, text} = await send(path, '/mcp/puppet', initialize);
	t.is(status, 200);
	t.regex(text, /"serverInfo"/);
	const socket = new WebSocket(`ws+unix://${path}:/mcp/puppet`, 'mcp');
	await once(socket, 'open');
	socket.send(handshake[0]);
	t.regex(String((await once(socket, 'message'))[0]), /"serverInfo"/);
	socket.close();
	running.child.kill('SIGTERM');
	t.is((await running.exited).code, 0);
	t.false(existsSync(path));
});

test('a socket left by a killed bridge is replaced, and one in use is an error [SEC-D19]', async t => {
	const path = join(await newFolder(t), 'bridge.sock');
	const dead = await startOn(t, path);
	await dead.hasLines(1);
	dead.child.kill('SIGKILL');
	await dead.exited;
	t.true(existsSync(path));
	const running = await startOn(t, path);
	await running.hasLines(1);
	const second = await startOn(t, path);
	t.is((await second.exited).code, 2);
	t.regex(second.stderr, /another program listens there/);
	t.is((await send(path, '/healthz')).status, 200);
});

test('a file that is not a socket is rejected and not changed [SEC-D19]', async t => {
	const path = join(await newFolder(t), 'notes');
	await writeFile(path, 'mine');
	const running = await startOn(t, path);
	t.is((await running.exited).code, 2);
	t.regex(running.stderr, /a file that is not a socket/);
	t.true(lstatSync(path).isFile());
});

test('serves curl on a Unix socket with its default headers [SEC-D19]', async t => {
	const path = join(await newFolder(t), 'bridge.sock');
	const running = await startOn(t, path);
	await running.hasLines(1);
	const hasCurl = await new Promise<boolean>(resolve =>
		execFile('curl', ['--version'], error => resolve(!error)),
	);
	if (!hasCurl) return t.pass();
	const text = await new Promise<string>((resolve, reject) =>
		execFile(
			'curl',
			['-q', '-s', '--noproxy', '*', '--unix-socket', path, 'http://localhost/readyz'],
			(error, stdout) => (error ? reject(error) : resolve(stdout)),
		),
	);
	t.regex(text, /"ready"/);
	return;
});

test('--print-client fails for a Unix socket, which has no URL [SEC-D19]', async t => {
	const running = await startOn(t, join(await newFolder(t), 'bridge.sock'), ['--print-client', 'claude']);
	t.is((await running.exited).code, 2);
	t.regex(running.stderr, /Clients cannot connect to .* by URL/);
});

test('a client that does not read over a Unix socket is disconnected, and others are served [SEC-D15]', async t => {
	const path = join(await newFolder(t), 'bridge.sock');
	const running = await startOn(t, path, [], {unreadFor: '1s'});
	await running.hasLines(1);
	const socket = new WebSocket(`ws+unix://${path}:/mcp/puppet`, 'mcp');
	t.teardown(() => socket.terminate());
	await once(socket, 'open');
	socket.send(handshake[0]);
	await once(socket, 'message');
	socket.pause();
	socket.send(JSON.stringify({jsonrpc: '2.0', id: 'big', method: 'big', params: {bytes: 16 * 2 ** 20}}));
	await running.says(/"event":"http\.unread".*read nothing for 1 s/);
	t.is((await send(path, '/status')).status, 200);
});

test('listen accepts an absolute path of a socket, and rejects others [SEC-D19]', t => {
	t.deepEqual(parseListenAddress('unix:/run/b.sock'), {host: 'localhost', port: 0, path: '/run/b.sock'});
	t.is(formatListenAddress({host: 'localhost', port: 0, path: '/run/b.sock'}), 'unix:/run/b.sock');
	for (const text of ['unix:', 'unix:run/b.sock', 'unix:/a\0b', `unix:/${'x'.repeat(103)}`, 'unix'])
		t.is(parseListenAddress(text), undefined, text);
});
