import {mkdirSync, readdirSync, rmSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {MessageOrigin} from '../../lib/core/envelope.js';
import {Valve} from '../../lib/core/valve.js';
import {BackgroundLog, type BackgroundLogOptions} from '../../lib/traffic-log/background-log.js';
import type {TrafficLine} from '../../lib/traffic-log/records.js';
import {decodePercentText} from '../../lib/wire/percent-text.js';
import {parseNdjson} from '../helpers/ndjson.js';
import {until} from '../helpers/pipeline.js';
import {type LogLine, readLog, tempFolder} from '../helpers/temp-folder.js';

const NEVER = 3_600_000;

function start(t: ExecutionContext, options: Partial<BackgroundLogOptions> = {}) {
	const folder = join(tempFolder(t), 'logs');
	mkdirSync(folder);
	const printed: Buffer[] = [];
	const troubles: string[] = [];
	const log = new BackgroundLog({
		flushMs: NEVER,
		maxBytes: 256 * 2 ** 20,
		onFull: 'gap',
		stdout: async bytes => void printed.push(Buffer.from(bytes)),
		onTrouble: (_key, message) => void troubles.push(message),
		onBug: error => t.fail(error.message),
		...options,
	});
	t.teardown(() => log.end());
	const read = (): LogLine[] =>
		readdirSync(folder)
			.sort()
			.flatMap(file => readLog(join(folder, file)));
	return {log, folder, printed, troubles, read, destination: {folder, format: '%Y-%m-%d.ndjson'}};
}

const data = (bytes: Uint8Array): TrafficLine => ({
	head: Buffer.from('","data":"'),
	data: Buffer.from(bytes),
	tail: Buffer.from('"}\n'),
});
const event = (name: string): TrafficLine => ({head: Buffer.from(`","event":"${name}"}\n`)});
const origin = (): MessageOrigin => ({name: 'client', valve: new Valve()});
const upTo = (count: number): number[] => Array.from({length: count}, (_, index) => index);

test('writes lines byte for byte and in order, to a file that only its owner can access', async t => {
	const {log, destination, folder, read} = start(t);
	const key = log.open(destination);
	const chunks = upTo(300).map(number => Buffer.alloc(20_000, number));
	for (const chunk of chunks) log.add(data(chunk));
	t.deepEqual(await log.close(key, event('end')), {lostBytes: 0, leftOutLines: 0});
	const lines = read();
	t.is(lines.pop()?.event, 'end');
	t.true(
		Buffer.concat(lines.map(line => decodePercentText(String(line.data)))).equals(Buffer.concat(chunks)),
	);
	const times = lines.map(({time}) => time);
	t.deepEqual(
		times,
		times.toSorted((one, other) => one.localeCompare(other)),
	);
	t.is(statSync(join(folder, readdirSync(folder)[0] ?? '')).mode & 0o777, 0o600);
});

test('keeps lines that arrive before the first destination is opened', async t => {
	const {log, destination, read} = start(t);
	t.true(log.isOn);
	log.add(event('early'));
	const key = log.open(destination);
	log.add(event('late'));
	await log.close(key);
	t.deepEqual(
		read().map(line => line.event),
		['early', 'late'],
	);
	t.false(log.isOn);
});

test('writes to several destinations, to each from its opening to its close', async t => {
	const {log, destination, printed, read} = start(t);
	const file = log.open(destination);
	log.add(event('1'));
	const stdout = log.open('stdout');
	log.add(event('2'));
	await log.close(stdout, event('stop'));
	log.add(event('3'));
	await log.close(file);
	const events = parseNdjson<LogLine>(Buffer.concat(printed).toString()).map(({event}) => event);
	t.deepEqual(events, ['2', 'stop']);
	t.deepEqual(
		read().map(line => line.event),
		['1', '2', '3'],
	);
});

test('writes after the flush time, and not before', async t => {
	const {log, destination, folder} = start(t, {flushMs: 200});
	log.open(destination);
	log.add(event('1'));
	await setImmediate();
	t.deepEqual(readdirSync(folder), []);
	await until(() => readdirSync(folder).length > 0);
	t.pass();
});

test('counts dropped lines and records them as gaps', async t => {
	const {log, destination, read} = start(t, {maxBytes: 300_000});
	const key = log.open(destination);
	for (const _ of upTo(100)) log.add(data(Buffer.alloc(60_000, 65)));
	const {leftOutLines} = await log.close(key);
	const lines = read();
	const gaps = lines.filter(line => line.event === 'gap').map(line => Number(line.lines));
	t.true(leftOutLines > 0);
	t.is(
		gaps.reduce((sum, count) => sum + count, 0),
		leftOutLines,
	);
	t.is(lines.length - gaps.length, 100 - leftOutLines);
});

test('records a gap for lines that never reached the worker', async t => {
	const {log, destination, read} = start(t);
	const key = log.open(destination);
	// The limit of bytes in flight, since the worker cannot acknowledge any of them here.
	for (const _ of upTo(66)) log.add(data(Buffer.alloc(2 ** 20 - 1000, 65)));
	for (const _ of upTo(10)) log.add(event('lost'));
	t.is((await log.close(key, event('end'))).leftOutLines, 10);
	const [before, gap, end] = read().slice(-3);
	t.is(typeof before?.data, 'string');
	t.like(gap, {event: 'gap', lines: 10});
	t.is(end?.event, 'end');
});

test('applies backpressure with onFull: wait, and loses nothing', async t => {
	const {log, destination, read} = start(t, {maxBytes: 3e6, onFull: 'wait'});
	const key = log.open(destination);
	const from = origin();
	let waits = 0;
	let added = 0;
	// Even if the worker is late, no more than the limit is in flight.
	for (; added < 400 || (waits === 0 && added < 2000); added++) {
		log.add(data(Buffer.alloc(60_000, added)), from);
		// A socket emits more only in a later turn of the event loop.
		await setImmediate();
		if (from.valve.isOpen) continue;
		waits++;
		await new Promise<void>(resolve => from.valve.whenOpen(resolve));
	}
	t.deepEqual(await log.close(key), {lostBytes: 0, leftOutLines: 0});
	t.is(read().length, added);
	t.true(waits > 0);
});

test('continues where it stopped when its folder is removed and restored [I5]', async t => {
	const {log, destination, folder, troubles, read} = start(t, {flushMs: 20});
	rmSync(folder, {recursive: true});
	const key = log.open(destination);
	log.add(event('1'));
	await until(() => troubles.length > 0);
	t.regex(troubles[0] ?? '', /cannot be written: ENOENT/);
	mkdirSync(folder);
	await until(() => troubles.length > 1);
	t.regex(troubles[1] ?? '', /written again/);
	t.deepEqual(await log.close(key), {lostBytes: 0, leftOutLines: 0});
	t.deepEqual(
		read().map(line => line.event),
		['1'],
	);
});

test('returns the number of lost bytes on close', async t => {
	const {log, destination, folder} = start(t);
	const key = log.open(destination);
	rmSync(folder, {recursive: true});
	log.add(event('1'));
	t.true((await log.close(key)).lostBytes > 0);
});

test('reports a stdout without a reader', async t => {
	const stdout = (): Promise<void> => Promise.reject(new Error('write EPIPE'));
	const {log, troubles} = start(t, {flushMs: 10, stdout});
	log.open('stdout');
	log.add(event('1'));
	await until(() => troubles.length > 0);
	t.regex(troubles[0] ?? '', /write EPIPE/);
});

test('reports a worker that cannot run, and does not wait for it', async t => {
	const bugs: string[] = [];
	const worker = new URL('file:///nowhere/log-worker.js');
	const {log, destination} = start(t, {
		worker,
		onFull: 'wait',
		onBug: ({message}) => void bugs.push(message),
	});
	const key = log.open(destination);
	log.add(event('1'));
	t.deepEqual(await log.close(key), {lostBytes: 0, leftOutLines: 0});
	t.is(bugs.length, 1);
	t.false(log.isOn);
});
