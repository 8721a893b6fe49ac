import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import test from 'ava';
import {freePort} from '../../helpers/free-port.js';
import {bytesFrom, parsed, shareRaw, startRaw, TIME} from './support.js';
import {dial, ending, exchange, ownAddress, readAll, readBytes, startEcho, startPeer} from './tcp.js';

const shared = shareRaw(echo => ['--flush-millis', '20', `0:127.0.0.1:${echo}`, `0:localhost:${echo}`]);

test('forwards connections from the local port to the target [SIMPLE_001] [SIMPLE_005]', async t => {
	const {reply} = await exchange(shared().port, 'there and back');
	t.is(reply.toString(), 'there and back');
});

test('accepts a rule LOCAL_PORT:TARGET_HOST:TARGET_PORT [SIMPLE_002] [CMD_005]', async t => {
	const port = await freePort();
	const echo = await startPeer(t, socket => socket.pipe(socket));
	const raw = await startRaw(t, [`${port}:localhost:${echo.port}`]);
	t.is((await exchange(port, 'x')).reply.toString(), 'x');
	t.is(await raw.stop(), 0);
});

test('binds a rule with port 0 to a free port on 127.0.0.1 only and reports it [SIMPLE_003]', async t => {
	t.true(shared().port > 0);
	const {port} = shared();
	await t.throwsAsync(dial(port, '127.0.0.2'), {code: 'ECONNREFUSED'});
	await t.throwsAsync(dial(port, '::1'), {message: /ECONNREFUSED|EADDRNOTAVAIL/});
});

test('a rule accepts no UDP datagrams [SIMPLE_006]', async t => {
	const socket = createSocket('udp4');
	t.teardown(() => socket.close());
	socket.connect(shared().port, '127.0.0.1');
	await once(socket, 'connect');
	socket.send('datagram');
	const [error] = await once(socket, 'error');
	t.is((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
});

test('each rule has its own listener and its own target [SIMPLE_007] [SIMPLE_008] [CMD_006]', async t => {
	const [one, two] = [
		await startPeer(t, socket => socket.end('one')),
		await startPeer(t, socket => socket.end('two')),
	];
	const raw = await startRaw(t, [`0:127.0.0.1:${one.port}`, `0:127.0.0.1:${two.port}`]);
	const replies = await Promise.all(raw.ports.map(async port => String((await exchange(port, '')).reply)));
	t.deepEqual(replies, ['one', 'two']);
	one.close();
	t.is(String((await exchange(raw.ports[1] ?? 0, '')).reply), 'two');
});

test('listen_port distinguishes the lines of two rules with one target [SIMPLE_021]', async t => {
	for (const port of shared().ports) {
		const {client} = await exchange(port, 'x');
		const lines = await shared().connection(client, port);
		for (const {event, listen_port} of lines) if (event !== 'close') t.is(listen_port, port);
	}
});

test('ids are eight base-62 digits, unique, and increase by one across all rules [SIMPLE_008A] [SIMPLE_012]', async t => {
	const before = Date.now() * 1000;
	const echo = await startPeer(t, socket => socket.pipe(socket));
	const raw = await startRaw(t, [
		'--flush-millis',
		'20',
		`0:127.0.0.1:${echo.port}`,
		`0:127.0.0.1:${echo.port}`,
	]);
	const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
	const numberOf = (id: string): number =>
		[...id].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
	const ids: string[] = [];
	for (const port of [...raw.ports, ...raw.ports, ...raw.ports]) {
		const {client} = await exchange(port, 'x');
		const lines = await raw.connection(client, port);
		t.is(new Set(lines.map(({ConnID}) => ConnID)).size, 1);
		ids.push(lines[0]?.ConnID ?? '');
	}
	for (const id of ids) t.regex(id, /^[0-9A-Za-z]{8}$/);
	const [first = 0, ...rest] = ids.map(numberOf);
	t.deepEqual(
		rest,
		rest.map((_, index) => first + index + 1),
	);
	// Ids start at the time in µs, modulo 62^8.
	const since = (first - (before % 62 ** 8) + 62 ** 8) % 62 ** 8;
	t.true(since <= Date.now() * 1000 - before, `${ids[0]}`);
});

test('logs to stdout without a folder [SIMPLE_009] [CMD_009]', async t => {
	const {client} = await exchange(shared().port, 'to stdout');
	const lines = await shared().connection(client);
	t.true(lines.some(({data}) => data === 'to stdout'));
});

test('each line is one compact JSON object [SIMPLE_010]', async t => {
	const {client} = await exchange(shared().port, '{"a": [1, 2]}\r\n\t"%"\\ \u00e9\u2028');
	await shared().connection(client);
	for (const line of shared().running.lines) t.is(line, JSON.stringify(JSON.parse(line)));
});

test('open, data and close have their documented keys in order [SIMPLE_011] [SIMPLE_013] [SIMPLE_015]', async t => {
	const {client} = await exchange(shared().port, 'x');
	const [open, ...rest] = await shared().connection(client);
	const close = rest.pop();
	t.deepEqual(Object.keys(open ?? {}), ['time', 'ConnID', 'event', 'from', 'to', 'listen_port']);
	for (const data of rest)
		t.deepEqual(Object.keys(data), ['time', 'ConnID', 'data', 'from', 'to', 'listen_port']);
	t.deepEqual(Object.keys(close ?? {}).slice(0, 5), ['time', 'ConnID', 'event', 'from', 'to']);
	t.is(open?.event, 'open');
	t.is(close?.event, 'close');
	t.true(rest.length >= 2);
});

test('logs each chunk as its own line in chronological order [SIMPLE_013]', async t => {
	const socket = await dial(shared().port);
	const client = ownAddress(socket);
	for (const text of ['first', 'second', 'third']) {
		socket.write(text);
		t.is(String(await readBytes(socket, text.length)), text);
	}
	socket.end();
	await readAll(socket);
	const lines = await shared().connection(client);
	const sent = lines.filter(({data, from}) => data !== undefined && from === client);
	t.deepEqual(
		sent.map(({data}) => data),
		['first', 'second', 'third'],
	);
	const times = lines.map(({time}) => time);
	t.deepEqual(times, [...times].sort());
});

test('from is the sender, and the target is named as in the rule [SIMPLE_015A]', async t => {
	const {echo, ports} = shared();
	const {client} = await exchange(ports[1] ?? 0, 'x');
	const [open, ...rest] = await shared().connection(client, ports[1]);
	const target = `localhost:${echo.port}`;
	t.like(open, {from: client, to: target});
	for (const {data, from, to} of rest) {
		if (data === undefined) continue;
		t.deepEqual([from, to].sort(), [client, target].sort());
	}
	t.is(String(bytesFrom(rest, client)), 'x');
	t.is(String(bytesFrom(rest, target)), 'x');
});

test('close is from the side that closed first [SIMPLE_015A]', async t => {
	const {client} = await exchange(shared().port, 'x');
	t.like((await shared().connection(client)).at(-1), {event: 'close', from: client});
	const peer = await startPeer(t, socket => socket.end('bye'));
	const raw = await startRaw(t, ['--flush-millis', '20', `0:127.0.0.1:${peer.port}`]);
	const socket = await dial(raw.port);
	const other = ownAddress(socket);
	await readAll(socket);
	socket.end();
	const close = (await raw.connection(other)).at(-1);
	t.like(close, {event: 'close', from: `127.0.0.1:${peer.port}`, to: other});
});

test('times are UTC with six decimals and match the events [SIMPLE_016]', async t => {
	const before = Date.now();
	const {client} = await exchange(shared().port, 'x');
	const lines = await shared().connection(client);
	const after = Date.now();
	for (const {time} of lines) {
		t.regex(time, TIME);
		const at = Date.parse(time);
		t.true(at >= before - 50 && at <= after + 50, time);
	}
});

test('starts no control server without --mcp-port and does not mention one [SIMPLE_021A]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--flush-millis', '20', `0:127.0.0.1:${echo.port}`]);
	await exchange(raw.port, 'x');
	t.is(await raw.stop(), 0);
	t.false(raw.lines.some(({event}) => event === 'mcp-ready'));
	t.notRegex(raw.running.stderr, /\/mcp\b/);
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
	test(`${signal} closes all connections, completes the log and exits [SIMPLE_024] [CMD_012]`, async t => {
		const echo = await startPeer(t, socket => socket.pipe(socket));
		const raw = await startRaw(t, ['--flush-millis', '60000', `0:127.0.0.1:${echo.port}`]);
		const socket = await dial(raw.port);
		socket.write('kept');
		await readBytes(socket, 4);
		const ended = ending(socket);
		t.is(await raw.stop(signal), 0);
		t.regex(await ended, /^end$|^ECONNRESET$/);
		socket.destroy();
		const lines = parsed(`${raw.running.lines.join('\n')}\n`);
		t.is(lines.filter(({data}) => data === 'kept').length, 2);
		t.is(lines.filter(({event}) => event === 'open').length, 1);
		t.is(lines.filter(({event}) => event === 'close').length, 1);
	});
