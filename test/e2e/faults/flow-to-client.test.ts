import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import process from 'node:process';
import type {Readable, Writable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import split2 from 'split2';
import {bridgeBin, server, shakeHandsRaw} from '../../helpers/bridge.js';
import {bytesRead, peakMiB, untilStill} from '../../helpers/program.js';

type Bridge = ChildProcessByStdio<Writable, Readable, Readable>;

const GB = 1e9;
const MAX_MIB = 150;

async function startRaw(t: ExecutionContext, command: readonly string[]): Promise<Bridge> {
	// Hides warnings, for example on processes that other tests left behind.
	const flags = ['--log-level', 'error'];
	const bridge = spawn(process.execPath, [bridgeBin, ...flags, '--', ...command], {
		stdio: ['pipe', 'pipe', 'pipe'],
	});
	t.teardown(() => bridge.kill('SIGKILL'));
	await shakeHandsRaw(bridge);
	return bridge;
}

/** Hashes a stream and counts its lines from now on. Resolves with both when `isLast` accepts the count. */
function sumOf(stream: Readable, isLast: (count: number) => boolean): Promise<string> {
	const hash = createHash('sha256');
	let count = 0;
	return new Promise(resolve => {
		stream.on('data', (chunk: Buffer) => {
			hash.update(chunk);
			for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count++;
			if (isLast(count)) resolve(`sum ${count} ${hash.digest('hex')}\n`);
		});
	});
}

const flood = async (t: ExecutionContext, bytes: number, size: number): Promise<void> => {
	t.timeout(100_000);
	const bridge = await startRaw(t, server('flood', String(bytes), String(size), '--ready'));
	const {pid = 0, stdin, stdout, stderr} = bridge;
	const reported = once(stderr.setEncoding('utf8'), 'data');
	await once(stdout, 'readable');
	// The client does not read on, so bridge has to stop reading after a while.
	await untilStill(() => bytesRead(pid));
	t.true(bytesRead(pid) < 64 * 2 ** 20, `bridge read ${bytesRead(pid)} bytes although stdout is not read`);
	// The server sends whole blocks of about 1 MiB.
	const perBlock = Math.max(1, Math.floor(2 ** 20 / size));
	const expected = Math.ceil(bytes / (perBlock * size)) * perBlock;
	const sum = await sumOf(stdout, count => count >= expected);
	const [text] = await reported;
	t.is(sum, text);
	t.true(peakMiB(pid) < MAX_MIB, `${peakMiB(pid)} MiB`);
	t.log(`${Math.round(peakMiB(pid))} MiB`);
	stdin.end();
	const [code] = await once(bridge, 'exit');
	t.is(code, 0);
};

test.serial('delivers 1 GB in messages of 10 kB to a client that pauses, with flat memory [F1]', t =>
	flood(t, GB, 10_000),
);

test.serial('delivers 1 GB in messages of 1 MB to a client that pauses, with flat memory [F1]', t =>
	flood(t, GB, 1_000_000),
);

test.serial('delivers 64 MB in messages of 120 bytes to a client that pauses, with flat memory [F1]', t =>
	flood(t, 64e6, 120),
);

test.serial(
	'delivers all responses to a client that sends fast and reads slowly, with flat memory [F1]',
	async t => {
		t.timeout(100_000);
		const {pid = 0, stdin, stdout} = await startRaw(t, server('puppet'));
		const [calls, size] = [6000, 50_000];
		let sent = 0;
		const sendCalls = (): void => {
			while (sent < calls)
				if (!stdin.write(`{"jsonrpc":"2.0","id":${sent++},"method":"big","params":{"bytes":${size}}}\n`))
					return;
		};
		stdin.on('drain', sendCalls);
		sendCalls();
		await untilStill(() => bytesRead(pid));
		const ids = new Set<string>();
		for await (const line of stdout.pipe(split2())) {
			ids.add(/"id":(\d+),"result"/.exec(line.slice(0, 60))?.[1] ?? line.slice(0, 200));
			if (ids.size === calls) break;
		}
		t.true(peakMiB(pid) < 200, `${peakMiB(pid)} MiB`);
		t.log(`${Math.round(peakMiB(pid))} MiB`);
		for (let id = 0; id < calls; id++) if (!ids.has(String(id))) t.fail(`no response to ${id}`);
	},
);

test.serial('memory stays flat when a client sends garbage and reads no replies [F1]', async t => {
	t.timeout(100_000);
	const bridge = await startRaw(t, server('puppet'));
	const {pid = 0, stdin, stdout, stderr} = bridge;
	stderr.resume();
	const garbage = Buffer.from(`${'not a message '.repeat(9)}\n`.repeat(1000));
	const [blocks, lines] = [200, 200_000];
	let sent = 0;
	const send = (): void => {
		while (sent < blocks) {
			sent++;
			if (!stdin.write(garbage)) return;
		}
	};
	stdin.on('drain', send);
	send();
	await untilStill(() => bytesRead(pid));
	t.true(sent < blocks, 'bridge kept reading although its replies are not read');
	let count = 0;
	const all = new Promise<void>(resolve => {
		stdout.on('data', (chunk: Buffer) => {
			for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count++;
			if (count >= lines) resolve();
		});
	});
	await all;
	t.is(count, lines);
	// Each line causes an error. V8's young generation grows, in Node 24 to twice the size of Node 20.
	t.true(peakMiB(pid) < 200, `${peakMiB(pid)} MiB`);
	t.log(`${Math.round(peakMiB(pid))} MiB`);
	stdin.end();
	const [code] = await once(bridge, 'exit');
	t.is(code, 0);
});
