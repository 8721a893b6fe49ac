import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {messageIn, startGateway} from '../helpers/gateway.js';
import {need, run} from './tools.js';

/** An upstream whose results contain the client port of the connection. */
const program = `require('node:http').createServer((request, response) => {
	let text = '';
	request.on('data', chunk => { text += chunk; });
	request.on('end', () => {
		const {id, method, params} = text === '' ? {} : JSON.parse(text);
		if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
		const serverInfo = {name: 'far', version: '1'};
		const result = method === 'initialize'
			? {protocolVersion: params.protocolVersion, capabilities: {tools: {}}, serverInfo}
			: {content: [], port: request.socket.remotePort};
		response.writeHead(200, {'content-type': 'application/json'});
		response.end(JSON.stringify({jsonrpc: '2.0', id, result}));
	});
}).listen(8080, () => console.log('listening'));`;

/** Starts an upstream in its own network namespace, whose network link can be taken down. */
async function startRemote(t: ExecutionContext): Promise<{url: string; cable(state: 'up' | 'down'): void}> {
	if (process.getuid?.() !== 0)
		throw new Error('This test creates a network namespace, which requires root.');
	need('ip', 'iproute2');
	const name = `bridge-${process.pid}`;
	const [near, far] = [`br${process.pid}a`, `br${process.pid}b`];
	const inside = (...words: string[]): string => run('ip', 'netns', 'exec', name, ...words);
	run('ip', 'netns', 'add', name);
	t.teardown(() => void run('ip', 'netns', 'delete', name));
	run('ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
	// Addresses reserved for network tests (RFC 2544).
	run('ip', 'address', 'add', '198.18.77.1/30', 'dev', near);
	run('ip', 'link', 'set', near, 'up');
	inside('ip', 'address', 'add', '198.18.77.2/30', 'dev', far);
	inside('ip', 'link', 'set', far, 'up');
	const server: ChildProcess = spawn('ip', ['netns', 'exec', name, process.execPath, '-e', program]);
	t.teardown(async () => {
		server.kill('SIGKILL');
		await once(server, 'close');
	});
	if (server.stdout) await once(server.stdout, 'data');
	return {
		url: 'http://198.18.77.2:8080/mcp',
		cable: state => void inside('ip', 'link', 'set', far, state),
	};
}

test.serial(
	'a call to a vanished server times out, and the next call uses a new connection [D13]',
	async t => {
		const {url, cable} = await startRemote(t);
		const gateway = await startGateway(t, {servers: {far: {url, insecure: true, timeout: 3}}});
		const session = await gateway.open('far');
		const call = (id: number) => session.post({id, method: 'tools/call', params: {name: 'where'}});
		const portIn = (response: Awaited<ReturnType<typeof call>>): unknown =>
			(messageIn(response).result as {port?: number} | undefined)?.port;
		let before: unknown;
		// The connection is kept alive: once it is idle, each call reuses it.
		for (let port = portIn(await call(1)); port !== before; port = portIn(await call(2))) before = port;
		t.regex(run('ss', '-tno', 'dst', '198.18.77.2'), /timer:\(keepalive/, 'idle connections are probed');
		cable('down');
		const lost = await call(3);
		t.is(lost.status, 504);
		t.like(messageIn(lost), {id: 3, error: {code: -31002}});
		cable('up');
		// The connection recovers only after address resolution, so the call is retried.
		let again = await call(4);
		for (let id = 5; again.status !== 200 && id < 30; id++) {
			await sleep(100);
			again = await call(id);
		}
		t.is(again.status, 200);
		t.is(typeof portIn(again), 'number');
		t.not(portIn(again), before, 'the dead connection is not reused');
	},
);
