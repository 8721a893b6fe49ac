import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import type {Writable} from 'node:stream';
import test from 'ava';
import {bridgeBin, server, shakeHandsRaw} from '../../helpers/bridge.js';
import {errorOf, isAllRpc, logged, peakMiB, startPuppet} from '../../helpers/program.js';

const GB = 1e9;
const LIMIT = 64 * 2 ** 20;
const filler = Buffer.alloc(2 ** 20, 'x');
/** Four times the message limit, plus the memory of Node itself. */
const MAX_MIB = 4 * 64 + 60;

async function write(stdin: Writable, start: string, bytes: number, end: string): Promise<void> {
	stdin.write(start);
	for (let left = bytes; left > 0; left -= filler.length)
		if (!stdin.write(filler.subarray(0, left))) await once(stdin, 'drain');
	stdin.write(end);
}

test.serial(
	'rejects a 1 GB line of the client with -31007 under its id, and accepts the next one [A2]',
	async t => {
		t.timeout(100_000);
		const {bridge} = await startPuppet(t);
		await write(bridge.stdin, '{"jsonrpc":"2.0","id":77,"method":"echo","params":{"text":"', GB, '"}}\n');
		const {code, message, data} = errorOf(await bridge.answer(77));
		t.is(code, -31007);
		t.like(data, {source: 'bridge', kind: 'too_large'});
		t.regex(message, new RegExp(`limits\\.message|${LIMIT}`));
		t.like(await bridge.request(78, 'echo', {ok: true}), {result: {ok: true}});
		t.log(`${Math.round(peakMiB(bridge.pid))} MiB`);
		t.true(peakMiB(bridge.pid) < MAX_MIB, `${peakMiB(bridge.pid)} MiB`);
		t.is(await bridge.end(), 0);
		t.true(isAllRpc(bridge.lines));
	},
);

test.serial('rejects 1 GB without a line end with id null at the end of input [A2]', async t => {
	t.timeout(100_000);
	const {bridge} = await startPuppet(t);
	await write(bridge.stdin, '', GB, '');
	t.is(await bridge.end(), 0);
	t.like(JSON.parse(bridge.lines.at(-1) ?? ''), {id: null, error: {code: -31007}});
	t.is(bridge.lines.length, 2);
});

test.serial(
	'fails the call whose response is a 1 GB line, with a warning, and serves the next one [A2]',
	async t => {
		t.timeout(100_000);
		const {bridge} = await startPuppet(t);
		const params = {start: '{"jsonrpc":"2.0","id":5,"result":{"text":"', bytes: GB, end: '"}}'};
		const {code, data} = errorOf(await bridge.request(5, 'giant-line', params));
		t.is(code, -31007);
		t.like(data, {source: 'bridge', kind: 'too_large'});
		t.like(await bridge.request(6, 'echo', {ok: true}), {result: {ok: true}});
		t.log(`${Math.round(peakMiB(bridge.pid))} MiB`);
		t.true(peakMiB(bridge.pid) < MAX_MIB, `${peakMiB(bridge.pid)} MiB`);
		t.is(await bridge.end(), 0);
		t.is(logged(bridge, 'frame.too_large').length, 1);
		t.is(bridge.lines.length, 3);
	},
);

test.serial('skips a 1 GB line of the upstream that is not a message, with a warning [A2]', async t => {
	t.timeout(100_000);
	const {bridge} = await startPuppet(t);
	bridge.send({method: 'giant-line', params: {start: '', bytes: GB, end: ''}});
	t.like(await bridge.request(6, 'echo', {ok: true}), {result: {ok: true}});
	t.true(peakMiB(bridge.pid) < MAX_MIB, `${peakMiB(bridge.pid)} MiB`);
	t.is(await bridge.end(), 0);
	t.is(bridge.lines.length, 2);
	t.like(logged(bridge, 'frame.too_large')[0], {level: 40, side: 'puppet'});
});

test.serial(
	'accepts a message of 64 MiB from the client and rejects one that is a byte longer [A2]',
	async t => {
		t.timeout(100_000);
		const {bridge} = await startPuppet(t);
		const end = '"}\n';
		const start = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"held","params":"`;
		const size = LIMIT - start(1).length - end.length + 1;
		await write(bridge.stdin, start(1), size, end);
		t.like(await bridge.answer(1), {result: {count: 0}});
		await write(bridge.stdin, start(2), size + 1, end);
		t.like(await bridge.answer(2), {error: {code: -31007}});
		t.is(await bridge.end(), 0);
	},
);

test.serial('forwards a response of 64 MiB and fails the call if it is a byte longer [A2]', async t => {
	t.timeout(100_000);
	const responseStart = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":"`;
	const size = LIMIT - responseStart(1).length - 2;
	const call = (id: number, bytes: number): string =>
		JSON.stringify({
			jsonrpc: '2.0',
			id,
			method: 'giant-line',
			params: {start: responseStart(id), bytes, end: '"}'},
		});
	const bridge = spawn(process.execPath, [bridgeBin, '--', ...server('puppet')], {
		stdio: ['pipe', 'pipe', 'ignore'],
	});
	t.teardown(() => bridge.kill('SIGKILL'));
	await shakeHandsRaw(bridge);
	bridge.stdin.write(`${call(1, size)}\n${call(2, size + 1)}\n`);
	const chunks: Buffer[] = [];
	let lines = 0;
	for await (const chunk of bridge.stdout) {
		chunks.push(chunk);
		if (chunk.includes(10) && ++lines === 2) break;
	}
	const output = Buffer.concat(chunks);
	t.is(output.indexOf(10), LIMIT);
	t.like(JSON.parse(output.toString('utf8', LIMIT + 1)), {id: 2, error: {code: -31007}});
});
