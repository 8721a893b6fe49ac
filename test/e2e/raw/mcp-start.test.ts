import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {freePort} from '../../helpers/free-port.js';
import {newFolder, until} from '../../helpers/program.js';
import {ask, call, done, postText} from './control.js';
import {linesIn, parsed, startRaw, TIME, textIn} from './support.js';
import {dial, ending, exchange, readBytes, startEcho, startPeer} from './tcp.js';

test('--mcp-port PORT starts the control server on that port [REQ_MCP_001] [CMD_002]', async t => {
	const port = await freePort();
	const raw = await startRaw(t, ['--mcp-port', String(port)]);
	t.is(raw.endpoint, `http://localhost:${port}/mcp`);
	t.truthy((await ask(raw.endpoint, 'ping')).result);
});

test('--mcp-port 0 binds a free port [REQ_MCP_002]', async t => {
	const [one, two] = await Promise.all([startRaw(t, ['--mcp-port', '0']), startRaw(t, ['--mcp-port', '0'])]);
	const ports = [one, two].map(({endpoint}) => Number(new URL(endpoint).port));
	t.true(ports.every(port => port > 0));
	t.not(ports[0], ports[1]);
	t.truthy((await ask(one.endpoint, 'ping')).result);
	t.truthy((await ask(two.endpoint, 'ping')).result);
});

test('mcp-ready contains the time, the event and the endpoint [REQ_MCP_003] [CMD_010]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	const [ready] = raw.lines;
	t.deepEqual(Object.keys(ready ?? {}), ['time', 'event', 'endpoint']);
	t.is(ready?.event, 'mcp-ready');
	t.regex(String(ready?.time), TIME);
});

test('writes mcp-ready as the first line on stdout, unbuffered, and NDJSON after it [REQ_MCP_004]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--flush-millis', '600000', '--mcp-port', '0', `0:127.0.0.1:${echo.port}`]);
	t.is(raw.lines[0]?.event, 'mcp-ready');
	await exchange(raw.port, 'x');
	t.is(await raw.stop(), 0);
	t.is(raw.lines.filter(({event}) => event === 'mcp-ready').length, 1);
	const lines = parsed(`${raw.running.lines.join('\n')}\n`);
	t.true(lines.some(({event}) => event === 'open'));
	const times = lines.map(({time}) => time);
	t.deepEqual(times, [...times].sort());
});

test('runs with --mcp-port only and accepts commands [REQ_MCP_005]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const local_port = await freePort();
	await done(raw.endpoint, 'add-port-rule', {local_port, target_host: '127.0.0.1', target_port: echo.port});
	t.is(String((await exchange(local_port, 'x')).reply), 'x');
	t.is(raw.running.child.exitCode, null);
});

test('prints no help with --mcp-port only [REQ_MCP_006]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	t.truthy((await ask(raw.endpoint, 'ping')).result);
	t.is(await raw.stop(), 0);
	t.notRegex(raw.running.stderr, /usage|PORT_RULE/i);
	for (const {event} of raw.lines) t.is(typeof event, 'string');
});

test('forwards traffic and accepts commands at the same time with --mcp-port and rules [REQ_MCP_018]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--mcp-port', '0', '--flush-millis', '20', `0:127.0.0.1:${echo.port}`]);
	const socket = await dial(raw.port);
	for (let index = 0; index < 20; index++) {
		socket.write('x');
		const [byte, response] = await Promise.all([readBytes(socket, 1), ask(raw.endpoint, 'tools/list')]);
		t.is(String(byte), 'x');
		t.truthy(response.result);
	}
	socket.destroy();
});

test('responds to shutdown and then exits with 0 [REQ_MCP_020]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	const {status, message} = await postText(
		raw.endpoint,
		'{"jsonrpc":"2.0","method":"tools/call","id":9,"params":{"name":"shutdown","arguments":{}}}',
	);
	t.is(status, 200);
	t.truthy(message.result);
	t.deepEqual(await raw.running.exited, {code: 0, signal: null});
});

test('logs to the folder from the start with --mcp-port and a folder, also without rules [REQ_MCP_023]', async t => {
	const logs = join(await newFolder(t), 'logs');
	const raw = await startRaw(t, ['--mcp-port', '0', '--flush-millis', '100', `@${logs}`]);
	t.is(raw.lines[0]?.event, 'mcp-ready');
	await until(() => existsSync(logs) && readdirSync(logs).length > 0 && textIn(logs).endsWith('\n'));
	t.like(linesIn(logs)[0], {event: 'start-logging', directory: logs});
	t.is(raw.lines.length, 1);
});

test('logs traffic of added rules to the folder of the command line [REQ_MCP_023]', async t => {
	const logs = join(await newFolder(t), 'logs');
	const raw = await startRaw(t, ['--mcp-port', '0', `@${logs}`]);
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const local_port = await freePort();
	await done(raw.endpoint, 'add-port-rule', {local_port, target_host: '127.0.0.1', target_port: echo.port});
	await exchange(local_port, 'in the folder');
	t.is(await raw.stop(), 0);
	t.is(linesIn(logs).filter(({data}) => data === 'in the folder').length, 2);
	t.is(raw.lines.length, 1);
});

test('uses the default format for a folder without filename_format, regardless of --filename-format [REQ_MCP_012]', async t => {
	const [logs, other] = [join(await newFolder(t), 'logs'), join(await newFolder(t), 'other')];
	const raw = await startRaw(t, ['--mcp-port', '0', '--filename-format', 'x.ndjson', `@${logs}`]);
	await done(raw.endpoint, 'start-logging', {directory: other});
	t.is(await raw.stop(), 0);
	t.deepEqual(readdirSync(logs), ['x.ndjson']);
	t.regex(readdirSync(other).join(), /^rawprox_\d{4}-\d\d-\d\d-\d\d\.ndjson$/);
});

test('the endpoint is http://localhost:PORT/mcp and reachable over IPv4 and IPv6 [REQ_MCP_024]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	t.regex(raw.endpoint, /^http:\/\/localhost:[1-9]\d*\/mcp$/);
	for (const host of ['localhost', '127.0.0.1', '[::1]'])
		t.truthy((await ask(raw.endpoint.replace('localhost', host), 'ping')).result, host);
});

test('accepts arguments in any order', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = join(await newFolder(t), 'logs');
	const args = [`@${logs}`, `0:127.0.0.1:${echo.port}`, '--filename-format=x.ndjson', '--mcp-port', '0'];
	const raw = await startRaw(t, [...args, `0:127.0.0.1:${echo.port}`, '--flush-millis=50']);
	t.is(raw.ports.length, 2);
	for (const port of raw.ports) t.is(String((await exchange(port, 'x')).reply), 'x');
	t.is(await raw.stop(), 0);
	t.deepEqual(readdirSync(logs), ['x.ndjson']);
});

test('shutdown under traffic responds first, closes all connections and completes the log [I9]', async t => {
	const logs = join(await newFolder(t), 'logs');
	const peer = await startPeer(t, socket => socket.pipe(socket));
	const args = ['--mcp-port', '0', '--flush-millis', '600000', `0:127.0.0.1:${peer.port}`, `@${logs}`];
	// With --on-full wait, the log is complete however late a busy machine serves the call.
	const raw = await startRaw(t, [...args, '--on-full', 'wait']);
	const sockets = await Promise.all(Array.from({length: 20}, () => dial(raw.port)));
	let received = 0;
	const endings = sockets.map(socket => {
		socket.on('data', ({length}) => {
			received += length;
		});
		const send = (): void => {
			if (socket.writable && !socket.destroyed) socket.write('y'.repeat(5000), () => setImmediate(send));
		};
		send();
		return ending(socket);
	});
	await until(() => received > 1_000_000);
	t.truthy((await call(raw.endpoint, 'shutdown')).result);
	t.deepEqual(await raw.running.exited, {code: 0, signal: null});
	for (const ended of await Promise.all(endings)) t.regex(ended, /^(?:end|ECONNRESET|EPIPE|close)$/);
	for (const socket of sockets) socket.destroy();
	await t.throwsAsync(dial(raw.port), {code: 'ECONNREFUSED'});
	const lines = linesIn(logs);
	t.is(lines.filter(({event}) => event === 'open').length, 20);
	t.is(lines.filter(({event}) => event === 'close').length, 20);
	const target = `127.0.0.1:${peer.port}`;
	const logged = lines.filter(({from}) => from === target).reduce((sum, {data = ''}) => sum + data.length, 0);
	t.true(logged >= received, `${logged} bytes are in the log, ${received} arrived`);
});
