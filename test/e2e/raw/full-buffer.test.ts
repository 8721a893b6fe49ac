import {createHash, randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {newFolder, peakMiB, untilStill} from '../../helpers/program.js';
import {bytesOf, type Line, linesIn, type Raw, startRaw} from './support.js';
import {dial, exchange, startEcho} from './tcp.js';

async function startLogging(
	t: ExecutionContext,
	...flags: string[]
): Promise<{raw: Raw; logs: string; target: string}> {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const logs = join(await newFolder(t), 'logs');
	const raw = await startRaw(t, [...flags, `0:127.0.0.1:${echo.port}`, `@${logs}`]);
	return {raw, logs, target: `127.0.0.1:${echo.port}`};
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const gapsIn = (lines: readonly Line[]): Line[] => lines.filter(({event}) => event === 'gap');

test('--on-full gap: drops lines instead of delaying traffic, and logs how many', async t => {
	const {raw, logs} = await startLogging(t, '--max-buffer', '100kB', '--flush-millis', '600000');
	const bytes = randomBytes(3_000_000);
	const {reply} = await exchange(raw.port, bytes);
	t.is(hashOf(reply), hashOf(bytes));
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	const gaps = gapsIn(lines);
	t.true(gaps.length > 0);
	for (const gap of gaps) {
		t.true(Number(gap.lines) > 0);
		t.true(Number(gap.bytes) > 0);
	}
	const kept = lines.reduce((sum, {data = ''}) => sum + bytesOf(data).length, 0);
	t.true(kept < 6_000_000, `${kept}`);
});

test('--on-full gap is the default, and 256 MiB buffer a burst of 8 MB completely', async t => {
	const {raw, logs, target} = await startLogging(t, '--flush-millis', '600000');
	const bytes = randomBytes(8_000_000);
	const {reply} = await exchange(raw.port, bytes);
	t.is(hashOf(reply), hashOf(bytes));
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	t.deepEqual(gapsIn(lines), []);
	const back = lines.filter(({from}) => from === target).map(({data = ''}) => bytesOf(data));
	t.is(hashOf(Buffer.concat(back)), hashOf(bytes));
});

test('--on-full wait loses nothing, even with a small buffer', async t => {
	const {raw, logs, target} = await startLogging(
		t,
		'--max-buffer',
		'64kB',
		'--on-full',
		'wait',
		'--flush-millis',
		'20',
	);
	const bytes = randomBytes(5_000_000);
	const {reply} = await exchange(raw.port, bytes);
	t.is(hashOf(reply), hashOf(bytes));
	t.is(await raw.stop(), 0);
	const lines = linesIn(logs);
	t.deepEqual(gapsIn(lines), []);
	const parts = (isBack: boolean): Buffer =>
		Buffer.concat(lines.filter(({from}) => (from === target) === isBack).map(({data = ''}) => bytesOf(data)));
	t.is(hashOf(parts(false)), hashOf(bytes));
	t.is(hashOf(parts(true)), hashOf(bytes));
});

test('--on-full wait: bounds memory under 40 MB of traffic', async t => {
	const {raw} = await startLogging(t, '--max-buffer', '8MiB', '--on-full', 'wait', '--flush-millis', '50');
	await exchange(raw.port, randomBytes(2_000_000));
	const before = peakMiB(raw.running.pid);
	await exchange(raw.port, randomBytes(20_000_000));
	t.true(peakMiB(raw.running.pid) - before < 150, `${before} MiB, then ${peakMiB(raw.running.pid)}`);
	t.is(await raw.stop(), 0);
});

test('forwards traffic while the reader of the log on stdout is stalled [SIMPLE_018]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--max-buffer', '1MiB', '--flush-millis', '20', `0:127.0.0.1:${echo.port}`]);
	raw.running.child.stdout?.pause();
	const bytes = randomBytes(5_000_000);
	const {reply} = await exchange(raw.port, bytes);
	t.is(hashOf(reply), hashOf(bytes));
	raw.running.child.stdout?.resume();
	t.is(await raw.stop(), 0);
	t.true(gapsIn(raw.lines).length > 0);
});

test('--on-full wait: delays traffic while the reader of the log on stdout is stalled, and then continues', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const flags = ['--max-buffer', '256kB', '--on-full', 'wait', '--flush-millis', '20'];
	const raw = await startRaw(t, [...flags, `0:127.0.0.1:${echo.port}`]);
	raw.running.child.stdout?.pause();
	const socket = await dial(raw.port);
	const bytes = randomBytes(10_000_000);
	let received = 0;
	socket.on('data', ({length}) => {
		received += length;
	});
	const end = once(socket, 'end');
	socket.end(bytes);
	await untilStill(() => received);
	t.true(received < bytes.length, `${received} bytes came back`);
	raw.running.child.stdout?.resume();
	await end;
	t.is(received, bytes.length);
	t.is(await raw.stop(), 0);
	t.deepEqual(gapsIn(raw.lines), []);
	const replies = raw.lines.filter(({from}) => from === `127.0.0.1:${echo.port}`);
	t.is(hashOf(Buffer.concat(replies.map(({data = ''}) => bytesOf(data)))), hashOf(bytes));
});
