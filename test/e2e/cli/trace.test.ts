import test from 'ava';
import {startPuppet} from '../../helpers/program.js';

/** Returns the trace lines in the output on stderr. */
const traced = (stderr: string): string[] =>
	stderr.split('\n').filter(line => /^\d\d:\d\d:\d\d\.\d{3}Z [→←]/.test(line));

test.serial(
	'--debug prints one line per message: time, direction, method, id, size, and the latency of a response [GW-13]',
	async t => {
		const {bridge} = await startPuppet(t, [], ['--debug']);
		await bridge.request(1, 'slow', {ms: 50});
		bridge.send({method: 'notifications/initialized'});
		await bridge.request('two', 'tools/call', {name: 'weather'});
		t.is(await bridge.end(), 0);
		const [, , , request, response, notification, call, error] = traced(bridge.stderr);
		t.regex(request ?? '', / → slow +#1 +\d+ B$/);
		t.regex(response ?? '', / ← slow +#1 +\d+ B +\d+\.\d ms$/);
		t.true(Number(/([\d.]+) ms/.exec(response ?? '')?.[1]) >= 40);
		t.regex(notification ?? '', / → notifications\/initialized +\d+ B$/);
		t.regex(call ?? '', / → tools\/call weather +#"two" +\d+ B$/);
		t.regex(error ?? '', / ← tools\/call weather +#"two" +\d+ B +\d+\.\d ms error -32601: /);
		t.is(traced(bridge.stderr).length, 8);
		t.false(bridge.stderr.includes('\u001b'));
	},
);

test.serial('--debug prints rejected messages and the errors that bridge returns', async t => {
	const {bridge} = await startPuppet(t, [], ['--debug']);
	bridge.sendText('no message\n');
	await bridge.message(({error}) => error !== undefined);
	t.is(await bridge.end(), 0);
	const lines = traced(bridge.stderr);
	t.true(lines.some(line => /→ not JSON +10 B/.test(line)));
	t.true(lines.some(line => /←.*error -32700/.test(line)));
});

test.serial('--debug escapes control characters of methods and errors', async t => {
	const {bridge} = await startPuppet(t, [], ['--debug']);
	bridge.sendText('{"jsonrpc":"2.0","id":"a\\u001b[2J","method":"x\\u001b[31m\\n00:00:00.000 → forged"}\n');
	await bridge.hasLines(2);
	t.is(await bridge.end(), 0);
	t.false(bridge.stderr.includes('\u001b'));
	t.false(traced(bridge.stderr).some(line => line.startsWith('00:00:00.000')));
});

test.serial('without --debug, valid traffic prints nothing on stderr', async t => {
	const {bridge} = await startPuppet(t, [], ['--log-level', 'error']);
	await bridge.request(1, 'echo');
	t.is(await bridge.end(), 0);
	t.is(bridge.stderr, '');
});

test.serial('--debug prints no values of params or results [K4]', async t => {
	const {bridge} = await startPuppet(t, [], ['--debug', '--log-level', 'trace']);
	await bridge.request(1, 'echo', {authorization: 'canary-1', name: 'x', arguments: {text: 'canary-2'}});
	t.is(await bridge.end(), 0);
	t.notRegex(bridge.stderr, /canary/);
});
