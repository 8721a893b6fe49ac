import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {bridgeBin} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {bytesWritten, logged, signal, start} from '../../helpers/program.js';
import {configFile} from '../../helpers/raw-requests.js';

test('serves requests and shuts down cleanly when its stdout is closed [L4]', async t => {
	const port = await freePort();
	const file = await configFile(
		t,
		JSON.stringify({listen: `127.0.0.1:${port}`, servers: {puppet: program('puppet')}}),
	);
	const child = spawn(process.execPath, [bridgeBin, 'gateway', '--config', file], {stdio: 'pipe'});
	t.teardown(() => child.kill('SIGKILL'));
	child.stdout.destroy();
	let stderr = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	let status = 0;
	while (status === 0)
		status = await fetch(`http://127.0.0.1:${port}/healthz`).then(
			response => response.status,
			() => 0,
		);
	t.is(status, 200);
	child.kill('SIGTERM');
	const [code] = await once(child, 'close');
	t.is(code, 0);
	t.notRegex(stderr, /EPIPE|This is a bug|\n {4}at /);
});

test('shuts down cleanly on SIGHUP [L4]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	await gateway.open('puppet');
	gateway.running.child.kill('SIGHUP');
	t.is((await gateway.running.exited).code, 0);
	t.is(logged(gateway.running, 'gateway.draining').length, 1);
});

test('prints its address on stdout once and logs only to stderr [K6]', async t => {
	const servers = {puppet: program('puppet', '--say=a banner\n', '--words=hello\n')};
	const gateway = await startGateway(t, {servers}, {args: ['--debug', '--log-level', 'trace']});
	const printed = [...gateway.running.lines];
	const session = await gateway.open('puppet');
	await session.request(1, 'echo', {a: 1});
	t.is(await gateway.stop(), 0);
	t.deepEqual(gateway.running.lines, printed);
	t.regex(gateway.running.stderr, /→ echo/);
	t.regex(gateway.running.stderr, /child\.stdout\.garbage/);
});

test('prints nothing on stdout when it cannot start without a terminal [K6]', async t => {
	const running = start(t, ['gateway', '--config', await configFile(t, '{"servers": {"A b": {}}}')]);
	t.is((await running.exited).code, 2);
	t.deepEqual(running.lines, []);
});

test('keeps sessions and delivers responses that arrived while the gateway was suspended [L6]', async t => {
	const [timeout, idle] = [5, 5];
	const servers = {puppet: {...program('puppet'), timeout}};
	const gateway = await startGateway(t, {servers, limits: {idle: `${idle}s`}});
	const first = await gateway.open('puppet');
	const sessions = [first, ...(await Promise.all([1, 2, 3, 4].map(() => gateway.open('puppet'))))];
	const {pid} = (await first.request('pid', 'pid')).result as {pid: number};
	const held = first.request('held', 'hold');
	await first.request('heard', 'echo');
	const before = bytesWritten(pid);
	signal(gateway.running.pid, 'SIGSTOP');
	signal(pid, 'SIGUSR2');
	while (bytesWritten(pid) === before) await sleep(20);
	// The real deadline has to pass while the gateway is suspended.
	await sleep(Math.max(timeout, idle) * 1000 + 1500);
	signal(gateway.running.pid, 'SIGCONT');
	t.truthy((await held).result);
	const replies = await Promise.all(sessions.map(session => session.post({id: 1, method: 'echo'})));
	t.deepEqual(
		replies.map(({status}) => status),
		replies.map(() => 200),
	);
	t.is(logged(gateway.running, 'session.idle').length, 0);
});
