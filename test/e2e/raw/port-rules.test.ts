import {connect} from 'node:net';
import test from 'ava';
import {freePort} from '../../helpers/free-port.js';
import {ask, call, done, failureOf} from './control.js';
import {shareRaw, startRaw} from './support.js';
import {dial, ending, exchange, ownAddress, readBytes, startEcho, startPeer} from './tcp.js';

const shared = shareRaw(echo => ['--mcp-port', '0', '--flush-millis', '20', `0:127.0.0.1:${echo}`]);

/** The arguments of a rule that forwards to the echo. */
const rule = (local_port: unknown, target_port: unknown = shared().echo.port) => ({
	local_port,
	target_host: '127.0.0.1',
	target_port,
});
const add = (local_port: unknown, target_port?: unknown) =>
	call(shared().endpoint, 'add-port-rule', rule(local_port, target_port));
const remove = (local_port: unknown) => call(shared().endpoint, 'remove-port-rule', {local_port});

/** Whether the shared bridge still forwards and responds. */
async function isServing(): Promise<boolean> {
	const {reply} = await exchange(shared().port, 'probe');
	return String(reply) === 'probe' && (await ask(shared().endpoint, 'ping')).result !== undefined;
}

test('with --mcp-port, the first line on stdout contains the endpoint of the control server [PORT_001A] [PORT_001B]', t => {
	t.like(shared().lines[0], {event: 'mcp-ready'});
	t.regex(shared().endpoint, /^http:\/\/localhost:\d+\/mcp$/);
});

test('adds a rule at runtime that forwards once the call has returned [PORT_002]', async t => {
	const port = await freePort();
	await done(shared().endpoint, 'add-port-rule', rule(port));
	t.is(String((await exchange(port, 'through the new rule')).reply), 'through the new rule');
});

test('the result of add-port-rule describes the rule [PORT_003]', async t => {
	const port = await freePort();
	const text = await done(shared().endpoint, 'add-port-rule', rule(port));
	t.is(text, `Port rule added: ${port} -> 127.0.0.1:${shared().echo.port}`);
});

test('rejects a port in use with a JSON-RPC error that names it [PORT_004] [I7]', async t => {
	const {port} = await startPeer(t);
	const {code, message} = failureOf(await add(port));
	t.is(code, -32602);
	t.true(message.includes(`Port ${port} already in use`), message);
	t.true(await isServing());
});

test('rejects a second rule for a port and keeps the first [PORT_004] [I7]', async t => {
	const {code, message} = failureOf(await add(shared().port, 9));
	t.is(code, -32602);
	t.true(message.includes(String(shared().port)));
	t.true(await isServing());
});

test('a removed rule accepts no more connections [PORT_005]', async t => {
	const port = await freePort();
	await done(shared().endpoint, 'add-port-rule', rule(port));
	await exchange(port, 'x');
	await done(shared().endpoint, 'remove-port-rule', {local_port: port});
	await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
	t.true(await isServing());
});

test('removes a rule of the command line and frees its port [PORT_005]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--mcp-port', '0', `0:127.0.0.1:${echo.port}`]);
	await done(raw.endpoint, 'remove-port-rule', {local_port: raw.port});
	await t.throwsAsync(dial(raw.port), {code: 'ECONNREFUSED'});
	await done(raw.endpoint, 'add-port-rule', {
		local_port: raw.port,
		target_host: 'localhost',
		target_port: echo.port,
	});
	t.is(String((await exchange(raw.port, 'again')).reply), 'again');
});

test('an added rule logs to the current destinations [PORT_006]', async t => {
	const port = await freePort();
	await done(shared().endpoint, 'add-port-rule', rule(port));
	const {client} = await exchange(port, 'logged as well');
	const lines = await shared().connection(client, port);
	t.like(lines[0], {event: 'open', to: `127.0.0.1:${shared().echo.port}`, listen_port: port});
	t.is(lines.filter(({data}) => data === 'logged as well').length, 2);
});

test('the result of remove-port-rule names the port [PORT_008]', async t => {
	const port = await freePort();
	await done(shared().endpoint, 'add-port-rule', rule(port));
	t.true((await done(shared().endpoint, 'remove-port-rule', {local_port: port})).includes(String(port)));
});

for (const local_port of [-1, 65_536, 80.5, '80', null, true, [80], 1e300, 0])
	test(`add-port-rule rejects the local port ${JSON.stringify(local_port)} [I7]`, async t => {
		const {code, message} = failureOf(await add(local_port));
		t.is(code, -32602);
		t.true(message.length > 0);
		t.true(await isServing());
	});

for (const target_port of [0, -1, 65_536, '80', null, 1.5])
	test(`add-port-rule rejects the target port ${JSON.stringify(target_port)} and binds nothing [I7]`, async t => {
		const port = await freePort();
		t.is(failureOf(await add(port, target_port)).code, -32602);
		await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
	});

for (const target_host of ['', ' ', 'a b', 'a:b:c/d', 'host\u0000', 'x\r\ny', 7, null, ['h']])
	test(`add-port-rule rejects the target host ${JSON.stringify(target_host)} [I7]`, async t => {
		const port = await freePort();
		const args = {local_port: port, target_host, target_port: 9};
		t.is(failureOf(await call(shared().endpoint, 'add-port-rule', args)).code, -32602);
		await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
		t.true(await isServing());
	});

test('rejects a rule that forwards to itself [I7]', async t => {
	const port = await freePort();
	for (const target_host of ['127.0.0.1', 'localhost'])
		failureOf(
			await call(shared().endpoint, 'add-port-rule', {local_port: port, target_host, target_port: port}),
		);
	await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
	t.true(await isServing());
});

test('rejects rules that forward to each other [I7]', async t => {
	const [one, two] = [await freePort(), await freePort()];
	t.is((await add(one, two)).error, undefined);
	failureOf(await add(two, one));
	await t.throwsAsync(dial(two), {code: 'ECONNREFUSED'});
	await done(shared().endpoint, 'remove-port-rule', {local_port: one});
});

for (const alias of ['127.1', '[::ffff:127.0.0.1]'])
	test(`detects a rule that forwards to itself by another name, ${alias}, at its first connection [I7]`, async t => {
		const [one, two] = [await freePort(), await freePort()];
		const rules = [`${one}:${alias}:${two}`, `${two}:${alias}:${one}`];
		const raw = await startRaw(t, ['--flush-millis', '20', ...rules]);
		// Not dial(): the reset can arrive before the connect event.
		t.is(await ending(connect(one, '127.0.0.1')), 'ECONNRESET');
		await raw.line(({event, error}) => event === 'close' && String(error).includes('itself'));
		await raw.stop();
		const closed = raw.lines.filter(({event}) => event === 'close');
		t.is(closed.length, 3);
		t.true(closed.some(({error}) => error === `Port ${one} forwards to itself`));
		t.regex(raw.running.stderr, /raw\.loop/);
	});

test('a rule can forward to another rule [I7]', async t => {
	const port = await freePort();
	await done(shared().endpoint, 'add-port-rule', {
		local_port: port,
		target_host: '127.0.0.1',
		target_port: shared().port,
	});
	for (let count = 0; count < 3; count++) t.is(String((await exchange(port, 'x')).reply), 'x');
});

test('exactly one of several concurrent add-port-rule calls for a port succeeds [I7]', async t => {
	const port = await freePort();
	const responses = await Promise.all(Array.from({length: 8}, () => add(port)));
	t.is(responses.filter(({result}) => result !== undefined).length, 1);
	t.is(String((await exchange(port, 'x')).reply), 'x');
});

test('an added rule listens on 127.0.0.1 only [I7]', async t => {
	const port = await freePort();
	await done(shared().endpoint, 'add-port-rule', rule(port));
	await t.throwsAsync(dial(port, '127.0.0.2'), {code: 'ECONNREFUSED'});
});

test('ignores an unknown argument of add-port-rule [I7]', async t => {
	const port = await freePort();
	const response = await call(shared().endpoint, 'add-port-rule', {...rule(port), local_host: '0.0.0.0'});
	t.is(response.error, undefined);
	await t.throwsAsync(dial(port, '127.0.0.2'), {code: 'ECONNREFUSED'});
});

for (const local_port of [-1, 0, 65_536, '80', null, 1])
	test(`remove-port-rule rejects ${JSON.stringify(local_port)}, which has no rule [I8]`, async t => {
		const {code, message} = failureOf(await remove(local_port));
		t.is(code, -32602);
		t.true(message.length > 0);
		t.true(await isServing());
	});

test('keeps open connections of a removed rule until they end [I8]', async t => {
	const port = await freePort();
	await done(shared().endpoint, 'add-port-rule', rule(port));
	const socket = await dial(port);
	const client = ownAddress(socket);
	socket.write('before');
	t.is(String(await readBytes(socket, 6)), 'before');
	await done(shared().endpoint, 'remove-port-rule', {local_port: port});
	await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
	socket.write('after');
	t.is(String(await readBytes(socket, 5)), 'after');
	socket.end();
	socket.resume();
	const lines = await shared().connection(client, port);
	t.is(lines.filter(({data}) => data === 'after').length, 2);
	t.is(lines.at(-1)?.event, 'close');
});

test('adds and removes many rules concurrently with correct results', async t => {
	const ports = await Promise.all(Array.from({length: 20}, freePort));
	const responses = await Promise.all(ports.map(port => add(port)));
	const added = ports.filter((_, index) => responses[index]?.result !== undefined);
	t.true(added.length >= 15);
	for (const port of added) t.is(String((await exchange(port, 'x')).reply), 'x');
	const removed = await Promise.all(added.map(port => remove(port)));
	for (const {result} of removed) t.truthy(result);
	for (const port of added) await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
	t.true(await isServing());
});
