import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {readdirSync} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';
import {linesIn, startRaw} from './support.js';
import {dial, exchange, readAll, readBytes, startPeer} from './tcp.js';

/** Runs a program until it exits. */
async function runProgram(t: ExecutionContext, program: string, args: readonly string[]) {
	const child = spawn(program, args, {stdio: ['ignore', 'pipe', 'pipe']});
	t.teardown(() => child.kill('SIGKILL'));
	const [out, err]: [Buffer[], Buffer[]] = [[], []];
	child.stdout.on('data', chunk => out.push(chunk));
	child.stderr.on('data', chunk => err.push(chunk));
	const [code] = await once(child, 'close');
	return {code: code as number, stdout: Buffer.concat(out), stderr: String(Buffer.concat(err))};
}

const decode = (t: ExecutionContext, ...args: readonly string[]) =>
	runProgram(t, process.execPath, [bridgeBin, 'decode', ...args]);

/** Logs one connection per input to a target that returns each chunk in angle brackets. */
async function record(t: ExecutionContext, ...inputs: readonly Uint8Array[]) {
	const peer = await startPeer(t, socket => {
		socket.on('data', chunk => socket.write(Buffer.concat([Buffer.from('<'), chunk, Buffer.from('>')])));
		socket.on('end', () => socket.end());
	});
	const folder = await newFolder(t);
	const raw = await startRaw(t, ['--filename-format', 'log', `0:127.0.0.1:${peer.port}`, `@${folder}`]);
	const replies: Buffer[] = [];
	for (const bytes of inputs) replies.push((await exchange(raw.port, bytes)).reply);
	await raw.stop();
	const ids = linesIn(folder)
		.filter(({event}) => event === 'open')
		.map(({ConnID}) => String(ConnID));
	return {log: join(folder, 'log'), replies, ids};
}

test('bridge decode restores the bytes of each direction of the only connection', async t => {
	const bytes = randomBytes(100_000);
	const {log, replies} = await record(t, bytes);
	const from = await decode(t, log, '--from');
	t.is(from.code, 0);
	t.true(from.stdout.equals(bytes));
	const to = await decode(t, log, '--to');
	t.is(to.code, 0);
	t.true(to.stdout.equals(replies[0] ?? Buffer.alloc(0)));
});

test('bridge decode --conn ID restores one of several connections', async t => {
	const {log, ids, replies} = await record(t, Buffer.from('one'), Buffer.from('two %41\u0000'));
	const [first = '', second = ''] = ids;
	t.is(String((await decode(t, log, '--conn', first, '--from')).stdout), 'one');
	t.is(String((await decode(t, log, '--conn', second, '--from')).stdout), 'two %41\u0000');
	t.true((await decode(t, log, '--conn', second, '--to')).stdout.equals(replies[1] ?? Buffer.alloc(0)));
});

test('bridge decode rejects a connection that is not in the log and names it', async t => {
	const {log} = await record(t, Buffer.from('one'));
	const {code, stdout, stderr} = await decode(t, log, '--conn', 'zzzzzzzz', '--from');
	t.is(code, 1);
	t.is(stdout.length, 0);
	t.regex(stderr, /zzzzzzzz/);
});

test('bridge decode rejects several connections without --conn instead of mixing them', async t => {
	const {log, ids} = await record(t, Buffer.from('one'), Buffer.from('two'));
	const {code, stdout, stderr} = await decode(t, log, '--from');
	t.is(code, 2);
	t.is(stdout.length, 0);
	for (const id of ids) t.true(stderr.includes(id), stderr);
});

test('bridge decode rejects --from with --to, a missing log and no log', async t => {
	const {log} = await record(t, Buffer.from('one'));
	t.is((await decode(t, log, '--from', '--to')).code, 2);
	const missing = await decode(t, `${log}-missing`, '--from');
	t.is(missing.code, 2);
	t.regex(missing.stderr, /log-missing/);
	t.is((await decode(t)).code, 2);
});

const line = (id: string, rest: string): string =>
	`{"time":"2025-11-05T01:02:03.000004Z","ConnID":"${id}",${rest}}\n`;
const data = (text: string, from = 'c:1', to = 't:2'): string =>
	line('0Ab3xYz9', `"data":"${text}","from":"${from}","to":"${to}"`);
const open = line('0Ab3xYz9', '"event":"open","from":"c:1","to":"t:2"');

/** Writes a log file with this text. */
async function writeLog(t: ExecutionContext, text: string): Promise<string> {
	const log = join(await newFolder(t), 'log.ndjson');
	await writeFile(log, text);
	return log;
}

test('bridge decode reads logs of RawProx with other keys, spaces, \\u escapes and lowercase hex digits', async t => {
	const log = await writeLog(
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

test('bridge decode reports invalid lines and continues', async t => {
	const log = await writeLog(t, `${open}${data('one ')}nonsense\n${data('two')}{"cut`);
	const {code, stdout, stderr} = await decode(t, log, '--from');
	t.is(code, 1);
	t.is(String(stdout), 'one two');
	t.regex(stderr, /Unreadable lines were skipped: 2/);
});

test('bridge decode reports a line that a crash truncated, and the missing end of the connection', async t => {
	const log = await writeLog(t, `${open}${data('one ')}${data('two').slice(0, -30)}`);
	const {code, stdout, stderr} = await decode(t, log);
	t.is(code, 1);
	t.is(String(stdout), 'one ');
	t.regex(stderr, /skipped: 1/);
	t.regex(stderr, /decode\.end/);
});

const gap = '{"time":"2025-11-05T01:02:03.000004Z","event":"gap","lines":3,"bytes":300}\n';
const close = line('0Ab3xYz9', '"event":"close","from":"t:2","to":"c:1"');

test('bridge decode reports a gap, since bytes are missing', async t => {
	const log = await writeLog(t, open + data('one') + gap + data('two') + close);
	const {code, stdout, stderr} = await decode(t, log, '--from');
	t.is(code, 1);
	t.is(String(stdout), 'onetwo');
	t.regex(stderr, /missing from the log: 3/);
});

test('bridge decode reports a missing beginning and the side that it took for the client', async t => {
	const log = await writeLog(t, gap + data('back', 't:2', 'c:1') + data('there') + close);
	const {code, stderr} = await decode(t, log, '--from');
	t.is(code, 1);
	t.regex(stderr, /beginning of the connection is missing\. t:2 is assumed to be the client/);
	t.regex(stderr, /missing from the log: 3/);
});

test('bridge decode prints no warning for a complete connection', async t => {
	const {code, stderr} = await decode(t, await writeLog(t, open + data('one') + close));
	t.deepEqual({code, stderr}, {code: 0, stderr: ''});
});

/** Writes a log of two files whose names are not in chronological order, and an unrelated folder. */
async function writeRotatedLog(t: ExecutionContext): Promise<string> {
	const folder = await newFolder(t);
	const later = (text: string): string => text.replaceAll('2025-11-05', '2025-12-01');
	await writeFile(join(folder, 'x-05.11.2025.log'), open + data('one, '));
	await writeFile(join(folder, 'x-01.12.2025.log'), later(data('two') + close));
	await mkdir(join(folder, 'something else'));
	return folder;
}

test('bridge decode reads the files of a folder in chronological order, regardless of their names', async t => {
	const folder = await writeRotatedLog(t);
	t.deepEqual(await decode(t, folder, '--from'), {code: 0, stdout: Buffer.from('one, two'), stderr: ''});
	t.is(String((await decode(t, `@${folder}`)).stdout), 'one, two');
	const files = ['x-01.12.2025.log', 'x-05.11.2025.log'].map(file => join(folder, file));
	t.is(String((await decode(t, ...files)).stdout), 'one, two');
});

test('bridge decode joins a connection that bridge raw logged to several files', async t => {
	const peer = await startPeer(t, socket => socket.pipe(socket));
	const folder = await newFolder(t);
	const flags = ['--flush-millis', '50', '--filename-format', '%S-%M.log'];
	const raw = await startRaw(t, [...flags, `0:127.0.0.1:${peer.port}`, `@${folder}`]);
	const socket = await dial(raw.port);
	let sent = '';
	const seconds = new Set<number>();
	for (let count = 0; seconds.size < 3; count++) {
		const text = `${count} `;
		sent += text;
		socket.write(text);
		t.is(String(await readBytes(socket, text.length)), text);
		seconds.add(new Date().getUTCSeconds());
		await new Promise(resolve => setTimeout(resolve, 50));
	}
	socket.end();
	await readAll(socket);
	t.is(await raw.stop(), 0);
	t.true(readdirSync(folder).length >= 3);
	for (const direction of ['--from', '--to'])
		t.deepEqual(await decode(t, folder, direction), {code: 0, stdout: Buffer.from(sent), stderr: ''});
});

test('bridge decode - reads a log from stdin and requires --conn', async t => {
	const log = await writeLog(t, open + data('through a pipe') + close);
	const piped = (flags: string): string[] => ['-c', `cat "$2" | "$0" "$1" decode - ${flags}`];
	const run = (flags: string) => runProgram(t, 'sh', [...piped(flags), process.execPath, bridgeBin, log]);
	t.is(String((await run('--conn 0Ab3xYz9')).stdout), 'through a pipe');
	const {code, stderr} = await run('');
	t.is(code, 2);
	t.regex(stderr, /--conn ID/);
});

test('bridge decode rejects flags of other commands', async t => {
	const {code, stderr} = await decode(t, await writeLog(t, open), '--mcp-port', '0');
	t.is(code, 2);
	t.regex(stderr, /--mcp-port is not valid for bridge decode/);
});

test('bridge decode exits quietly when its reader closes the pipe', async t => {
	const log = await writeLog(t, open + data('x'.repeat(60_000)).repeat(200));
	const command = '"$0" "$1" decode "$2" --from | head -c 5';
	const {stdout, stderr} = await runProgram(t, 'sh', ['-c', command, process.execPath, bridgeBin, log]);
	t.is(String(stdout), 'xxxxx');
	t.notRegex(stderr, /bug|EPIPE|\n {4}at /);
});
