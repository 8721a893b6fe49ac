import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import test from 'ava';
import {linesIn, startRaw} from '../e2e/raw/support.js';
import {exchange, startEcho, startPeer} from '../e2e/raw/tcp.js';
import {freePort} from '../helpers/free-port.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {need, run} from './tools.js';

/* Common tools: curl for the control server, socat for connections. */

/** Posts JSON as in the documentation of RawProx, and returns the parsed response. */
function curl(endpoint: string, body: object, ...headers: readonly string[]): unknown {
	need('curl');
	const flags = ['Content-Type: application/json', ...headers].flatMap(header => ['-H', header]);
	return JSON.parse(
		run('curl', '-s', '-m', '20', '-X', 'POST', endpoint, ...flags, '-d', JSON.stringify(body)),
	);
}

const callOf = (id: number, name: string, args: object): object => ({
	jsonrpc: '2.0',
	method: 'tools/call',
	id,
	params: {name, arguments: args},
});
const resultOf = (id: number, text: string): object => ({
	jsonrpc: '2.0',
	id,
	result: {content: [{type: 'text', text}]},
});

test.serial(
	'curl controls bridge raw with the requests of the RawProx documentation [REQ_MCP_025]',
	async t => {
		const echo = await startEcho();
		t.teardown(() => echo.close());
		const logs = join(tempFolder(t), 'logs');
		const raw = await startRaw(t, ['--mcp-port', '0']);
		const {endpoint} = raw;
		const params = {
			protocolVersion: '2024-11-05',
			capabilities: {},
			clientInfo: {name: 'c', version: '1.0.0'},
		};
		const initialize = {jsonrpc: '2.0', method: 'initialize', id: 1, params};
		t.like(curl(endpoint, initialize, 'Accept: application/json, text/event-stream') as object, {
			jsonrpc: '2.0',
			id: 1,
			result: {protocolVersion: '2024-11-05', capabilities: {tools: {}}},
		});
		const listed = curl(endpoint, {jsonrpc: '2.0', method: 'tools/list', id: 2, params: {}});
		t.is((listed as {result: {tools: object[]}}).result.tools.length, 5);

		const local_port = await freePort();
		const rule = {local_port, target_host: '127.0.0.1', target_port: echo.port};
		const added = curl(endpoint, callOf(3, 'add-port-rule', rule));
		t.deepEqual(added, resultOf(3, `Port rule added: ${local_port} -> 127.0.0.1:${echo.port}`));
		const taken = {code: -32602, message: `Port ${local_port} already in use`};
		t.like(curl(endpoint, callOf(4, 'add-port-rule', rule)) as object, {
			jsonrpc: '2.0',
			id: 4,
			error: taken,
		});
		curl(endpoint, callOf(5, 'start-logging', {directory: logs}));
		t.is(String((await exchange(local_port, 'x')).reply), 'x');
		t.deepEqual(
			curl(endpoint, callOf(6, 'stop-logging', {directory: logs})),
			resultOf(6, `Logging stopped: ${logs}`),
		);
		t.is(linesIn(logs).filter(({data}) => data === 'x').length, 2);
		t.deepEqual(curl(endpoint, callOf(7, 'shutdown', {})), resultOf(7, 'Shutting down'));
		t.deepEqual(await raw.running.exited, {code: 0, signal: null});
	},
);

test.serial('socat gets the whole response after it closed its sending side [I2]', async t => {
	need('socat');
	const peer = await startPeer(t, socket => {
		let received = '';
		socket.on('data', chunk => {
			received += chunk;
		});
		socket.on('end', () => socket.end(`${received.length} bytes`));
	});
	const raw = await startRaw(t, ['--flush-millis', '20', `0:127.0.0.1:${peer.port}`]);
	const socat = spawn('socat', ['-t', '60', '-', `TCP:127.0.0.1:${raw.port}`], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	t.teardown(() => socat.kill('SIGKILL'));
	let response = '';
	socat.stdout.on('data', chunk => {
		response += chunk;
	});
	socat.stdin.end('requests'.repeat(10_000));
	const [code] = await once(socat, 'close');
	t.deepEqual({code, response}, {code: 0, response: '80000 bytes'});
	const {event} = await raw.line(line => line.event === 'close');
	t.is(event, 'close');
});
