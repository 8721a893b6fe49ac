import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import process from 'node:process';
import test from 'ava';
import {bridgeBin, server} from '../../helpers/bridge.js';
import {peakMiB, startPuppet} from '../../helpers/program.js';

const FLOOD = 100 * 2 ** 20;
/** Without bridge's own remarks, on what other tests have left behind say. */
const quiet = ['--log-level', 'error'];

test.serial('a flood of 100 MB on stderr that nobody reads holds no call up, and no memory [E9]', async t => {
	t.timeout(60_000);
	const stdio = ['pipe', 'pipe', 'pipe'] as const;
	// Nobody ever looks at the stderr of this bridge.
	const bridge = spawn(process.execPath, [bridgeBin, '--', ...server('puppet')], {stdio: [...stdio]});
	t.teardown(() => bridge.kill('SIGKILL'));
	const [stdin, stdout] = bridge.stdio;
	stdin.write(`{"jsonrpc":"2.0","id":1,"method":"flood-stderr","params":{"bytes":${FLOOD}}}\n`);
	stdin.write('{"jsonrpc":"2.0","id":2,"method":"echo","params":{"text":"after it"}}\n');
	let heard = '';
	for await (const chunk of stdout) {
		heard += chunk;
		if (heard.split('\n').length === 3) break;
	}
	t.is(
		heard,
		'{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":2,"result":{"text":"after it"}}\n',
	);
	t.true(peakMiB(bridge.pid ?? 0) < 150, `${peakMiB(bridge.pid ?? 0)} MiB`);
	stdin.end();
	const [code] = await once(bridge, 'exit');
	t.is(code, 0);
});

test.serial('stderr is passed on byte for byte to whoever reads it, whatever is in it [E9]', async t => {
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

test.serial(
	'what is left out of a flood that nobody read in time is counted where it is missing [E9]',
	async t => {
		t.timeout(60_000);
		const bridge = spawn(process.execPath, [bridgeBin, ...quiet, '--', ...server('puppet')], {stdio: 'pipe'});
		t.teardown(() => bridge.kill('SIGKILL'));
		bridge.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"flood-stderr","params":{"bytes":${FLOOD}}}\n`);
		await once(bridge.stdout, 'data');
		let seen = '';
		bridge.stderr.setEncoding('utf8').on('data', (text: string) => {
			seen += text;
		});
		bridge.stdin.end();
		await once(bridge, 'close');
		const missing = [...seen.matchAll(/stderr was not read in time: (\d+) bytes were dropped here\n/g)];
		t.true(missing.length > 0);
		const passed = [...seen].filter(letter => letter === 'x').length;
		t.is(passed + missing.reduce((sum, [, bytes]) => sum + Number(bytes), 0), FLOOD);
	},
);

test.serial('a stderr that is closed holds nothing up [E9]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.child.stderr?.destroy();
	t.like(await bridge.request(1, 'flood-stderr', {bytes: 2 ** 22}), {result: {}});
	t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
	t.is(await bridge.end(), 0);
});
