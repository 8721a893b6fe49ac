import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import process from 'node:process';
import test from 'ava';
import {bridgeBin, server} from '../../helpers/bridge.js';
import {peakMiB, startPuppet} from '../../helpers/program.js';

const FLOOD = 100 * 2 ** 20;
/** Suppresses warnings of bridge, for example on processes that other tests left behind. */
const quiet = ['--log-level', 'error'];

test.serial('neither blocks calls nor grows memory when 100 MB on stderr are not read [E9]', async t => {
	t.timeout(60_000);
	const stdio = ['pipe', 'pipe', 'pipe'] as const;
	// The stderr of this bridge is never read.
	const bridge = spawn(process.execPath, [bridgeBin, '--', ...server('puppet')], {stdio: [...stdio]});
	t.teardown(() => bridge.kill('SIGKILL'));
	const [stdin, stdout] = bridge.stdio;
	stdin.write(`{"jsonrpc":"2.0","id":1,"method":"flood-stderr","params":{"bytes":${FLOOD}}}\n`);
	stdin.write('{"jsonrpc":"2.0","id":2,"method":"echo","params":{"text":"after it"}}\n');
	let output = '';
	for await (const chunk of stdout) {
		output += chunk;
		if (output.split('\n').length === 3) break;
	}
	t.is(
		output,
		'{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":2,"result":{"text":"after it"}}\n',
	);
	t.true(peakMiB(bridge.pid ?? 0) < 150, `${peakMiB(bridge.pid ?? 0)} MiB`);
	stdin.end();
	const [code] = await once(bridge, 'exit');
	t.is(code, 0);
});

test.serial('forwards stderr byte for byte [E9]', async t => {
	t.timeout(60_000);
	const bridge = spawn(process.execPath, [bridgeBin, ...quiet, '--', ...server('puppet')], {stdio: 'pipe'});
	t.teardown(() => bridge.kill('SIGKILL'));
	const parts: Buffer[] = [];
	bridge.stderr.on('data', (chunk: Buffer) => parts.push(chunk));
	const sent = Array.from({length: 20}, () => randomBytes(100_000));
	sent.push(Buffer.from('\u001b[31mred\u001b[0m\r\n\0no line end'));
	for (const [id, bytes] of sent.entries()) {
		const params = {base64: bytes.toString('base64')};
		bridge.stdin.write(`${JSON.stringify({jsonrpc: '2.0', id, method: 'stderr', params})}\n`);
		await once(bridge.stdout, 'data');
	}
	bridge.stdin.end();
	const [code] = await once(bridge, 'close');
	t.is(code, 0);
	t.true(Buffer.concat(parts).equals(Buffer.concat(sent)));
});

test.serial('reports the number of dropped bytes where stderr was not read in time [E9]', async t => {
	t.timeout(60_000);
	const bridge = spawn(process.execPath, [bridgeBin, ...quiet, '--', ...server('puppet')], {stdio: 'pipe'});
	t.teardown(() => bridge.kill('SIGKILL'));
	bridge.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"flood-stderr","params":{"bytes":${FLOOD}}}\n`);
	await once(bridge.stdout, 'data');
	let stderr = '';
	bridge.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	bridge.stdin.end();
	await once(bridge, 'close');
	const missing = [...stderr.matchAll(/stderr was not read in time: (\d+) bytes were dropped here\n/g)];
	t.true(missing.length > 0);
	const forwarded = [...stderr].filter(letter => letter === 'x').length;
	t.is(forwarded + missing.reduce((sum, [, bytes]) => sum + Number(bytes), 0), FLOOD);
});

test.serial('a closed stderr does not block calls [E9]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.child.stderr?.destroy();
	t.like(await bridge.request(1, 'flood-stderr', {bytes: 2 ** 22}), {result: {}});
	t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
	t.is(await bridge.end(), 0);
});
