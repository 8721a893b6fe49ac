import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {newFolder} from '../faults/support.js';
import {bridgeBin} from '../helpers/bridge.js';
import {linesIn, startRaw} from './support.js';
import {exchange, startPeer} from './tcp.js';

/** Runs `bridge decode ARGS`. */
async function decode(t: ExecutionContext, ...args: readonly string[]) {
	const child = spawn(process.execPath, [bridgeBin, 'decode', ...args], {stdio: ['ignore', 'pipe', 'pipe']});
	t.teardown(() => child.kill('SIGKILL'));
	const [out, err]: [Buffer[], Buffer[]] = [[], []];
	child.stdout.on('data', chunk => out.push(chunk));
	child.stderr.on('data', chunk => err.push(chunk));
	const [code] = await once(child, 'close');
	return {code: code as number, stdout: Buffer.concat(out), stderr: String(Buffer.concat(err))};
}

/** A log of two connections: what each has said, and that the target answered in upper case. */
async function traced(t: ExecutionContext, ...said: readonly Uint8Array[]) {
	const peer = await startPeer(t, socket => {
		socket.on('data', chunk => socket.write(Buffer.concat([Buffer.from('<'), chunk, Buffer.from('>')])));
		socket.on('end', () => socket.end());
	});
	const folder = await newFolder(t);
	const raw = await startRaw(t, ['--filename-format', 'log', `0:127.0.0.1:${peer.port}`, `@${folder}`]);
	const answers: Buffer[] = [];
	for (const bytes of said) answers.push((await exchange(raw.port, bytes)).answer);
	await raw.stop();
	const ids = linesIn(folder)
		.filter(({event}) => event === 'open')
		.map(({ConnID}) => String(ConnID));
	return {log: join(folder, 'log'), answers, ids};
}

test('bridge decode gives back what the client of the only connection said, and what it was told', async t => {
	const bytes = randomBytes(100_000);
	const {log, answers} = await traced(t, bytes);
	const from = await decode(t, log, '--from');
	t.is(from.code, 0);
	t.true(from.stdout.equals(bytes));
	const to = await decode(t, log, '--to');
	t.is(to.code, 0);
	t.true(to.stdout.equals(answers[0] ?? Buffer.alloc(0)));
});

test('bridge decode --conn ID gives back one connection of several', async t => {
	const {log, ids, answers} = await traced(t, Buffer.from('one'), Buffer.from('two %41\u0000'));
	const [first = '', second = ''] = ids;
	t.is(String((await decode(t, log, '--conn', first, '--from')).stdout), 'one');
	t.is(String((await decode(t, log, '--conn', second, '--from')).stdout), 'two %41\u0000');
	t.true((await decode(t, log, '--conn', second, '--to')).stdout.equals(answers[1] ?? Buffer.alloc(0)));
});

test('bridge decode of a connection that is not in the log is an error that names it', async t => {
	const {log} = await traced(t, Buffer.from('one'));
	const {code, stdout, stderr} = await decode(t, log, '--conn', 'zzzzzzzz', '--from');
	t.true(code === 1 || code === 2);
	t.is(stdout.length, 0);
	t.regex(stderr, /zzzzzzzz/);
});

test('bridge decode of several connections without --conn never mixes them', async t => {
	const {log, ids} = await traced(t, Buffer.from('one'), Buffer.from('two'));
	const {code, stdout, stderr} = await decode(t, log, '--from');
	t.true(code === 1 || code === 2);
	t.is(stdout.length, 0);
	for (const id of ids) t.true(stderr.includes(id), stderr);
});

test('bridge decode --from --to is an error, and so is a log that is not there, or none', async t => {
	const {log} = await traced(t, Buffer.from('one'));
	t.is((await decode(t, log, '--from', '--to')).code, 2);
	const missing = await decode(t, `${log}-missing`, '--from');
	t.true(missing.code === 1 || missing.code === 2);
	t.regex(missing.stderr, /log-missing/);
	t.is((await decode(t)).code, 2);
});

const line = (id: string, rest: string): string =>
	`{"time":"2025-11-05T01:02:03.000004Z","ConnID":"${id}",${rest}}\n`;
const data = (text: string, from = 'c:1', to = 't:2'): string =>
	line('0Ab3xYz9', `"data":"${text}","from":"${from}","to":"${to}"`);
const open = line('0Ab3xYz9', '"event":"open","from":"c:1","to":"t:2"');

/** A log as others may have written it. */
async function written(t: ExecutionContext, text: string): Promise<string> {
	const log = join(await newFolder(t), 'log.ndjson');
	await writeFile(log, text);
	return log;
}

test('bridge decode reads logs of RawProx itself: other keys, spaces, \\u and lower case are understood', async t => {
	const log = await written(
		t,
		open +
			data('a%00\\t\\u0041%ff') +
			'{"time": "T", "ConnID": "0Ab3xYz9", "data": "b", "from": "c:1", "to": "t:2", "listener": "x"}\r\n' +
			data('back', 't:2', 'c:1') +
			line('0Ab3xYz9', '"event":"close","from":"t:2","to":"c:1"'),
	);
	t.deepEqual((await decode(t, log, '--from')).stdout, Buffer.from('a\u0000\tA\u00ffb', 'latin1'));
	t.is(String((await decode(t, log, '--to')).stdout), 'back');
});

test('bridge decode tells of lines that are none, and goes on', async t => {
	const log = await written(t, `${open}${data('one ')}nonsense\n${data('two')}{"torn`);
	const {stdout, stderr} = await decode(t, log, '--from');
	t.is(String(stdout), 'one two');
	t.regex(stderr, /line/);
});

test('bridge decode tells of a gap, for the bytes are not all there', async t => {
	const gap = '{"time":"2025-11-05T01:02:03.000004Z","event":"gap","lines":3,"bytes":300}\n';
	const {stdout, stderr} = await decode(
		t,
		await written(t, open + data('one') + gap + data('two')),
		'--from',
	);
	t.is(String(stdout), 'onetwo');
	t.regex(stderr, /gap|missing|left out/i);
});

test('bridge decode ends quietly when nobody reads on', async t => {
	const log = await written(t, open + data('x'.repeat(60_000)).repeat(200));
	const child = spawn('sh', [
		'-c',
		'"$0" "$1" decode "$2" --from | head -c 5',
		process.execPath,
		bridgeBin,
		log,
	]);
	const out: Buffer[] = [];
	const err: Buffer[] = [];
	child.stdout.on('data', chunk => out.push(chunk));
	child.stderr.on('data', chunk => err.push(chunk));
	await once(child, 'close');
	t.is(String(Buffer.concat(out)), 'xxxxx');
	t.notRegex(String(Buffer.concat(err)), /bug|EPIPE|\n {4}at /);
});
