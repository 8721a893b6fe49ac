import {existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {TrafficLog, type TrafficLogOptions} from '../../lib/traffic-log/traffic-log.js';
import {nowMicroseconds} from '../../lib/util/clock.js';
import {until} from '../helpers/pipeline.js';
import {addLine, lineCount, readLog, tempFolder} from '../helpers/temp-folder.js';

/** Longer than any test. */
const NEVER = 3_600_000;

const start = (t: ExecutionContext, options: Partial<TrafficLogOptions> = {}) => {
	const folder = join(tempFolder(t), 'logs');
	mkdirSync(folder);
	const file = join(folder, 'log');
	const troubles: string[] = [];
	const onTrouble = (message: string) => void troubles.push(message);
	const log = new TrafficLog({destination: {file}, flushMs: NEVER, onTrouble, ...options});
	return {log, file, folder, troubles};
};

const add = (log: TrafficLog, number: number): void => addLine(log, 'n', number);
const numbers = (file: string): unknown[] => readLog(file).map(({n, event}) => n ?? event);
const upTo = (count: number): number[] => Array.from({length: count}, (_, index) => index);

test('writes lines in order, with the time as the first member', async t => {
	const {log, file} = start(t);
	for (const number of upTo(1000)) add(log, number);
	t.is(await log.close(), 0);
	t.deepEqual(numbers(file), upTo(1000));
	const times = readLog(file).map(({time}) => time);
	t.true(times.every((time, index) => time >= (times[index - 1] ?? '')));
	for (const line of readFileSync(file, 'utf8').trim().split('\n'))
		t.regex(line, /^\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z","n":\d+\}$/);
});

test('creates a file that only its owner can access, and appends to an existing one', async t => {
	const {log, file} = start(t);
	add(log, 1);
	await log.close();
	t.is(statSync(file).mode & 0o777, 0o600);
	const again = new TrafficLog({destination: {file}});
	add(again, 2);
	await again.close();
	t.deepEqual(numbers(file), [1, 2]);
});

test('starts a new line after one that a crash has torn', async t => {
	const {log, file} = start(t);
	writeFileSync(file, '{"torn');
	add(log, 1);
	await log.close();
	t.regex(readFileSync(file, 'utf8'), /^\{"torn\n\{"time":.*"n":1\}\n$/);
});

test('creates no file before the first line', async t => {
	const {log, file} = start(t);
	t.is(await log.close(), 0);
	t.false(existsSync(file));
});

test('writes the lines of one flush interval together', async t => {
	const {log, file} = start(t, {flushMs: 30});
	add(log, 1);
	add(log, 2);
	t.false(existsSync(file));
	await until(() => lineCount(file) > 0);
	t.deepEqual(numbers(file), [1, 2]);
});

test('writes after each flush interval', async t => {
	const {log, file} = start(t, {flushMs: 5});
	for (const number of upTo(3)) {
		add(log, number);
		await until(() => lineCount(file) === number + 1);
	}
	t.deepEqual(numbers(file), upTo(3));
});

test('writes a line that is added during a write, even if no other line follows', async t => {
	const {log, file} = start(t, {flushMs: 1});
	add(log, 0);
	const flushing = log.flush();
	add(log, 1);
	// A flush during the write must not drop the timer of the line that waits.
	void log.flush();
	await flushing;
	await until(() => lineCount(file) === 2);
	t.deepEqual(numbers(file), [0, 1]);
});

test('writes before the flush time if much is buffered', async t => {
	const {log, file} = start(t);
	for (let count = 0; count < 10; count++) addLine(log, 'n', 'x'.repeat(2 ** 20));
	await until(() => existsSync(file) && statSync(file).size > 8 * 2 ** 20);
	await log.close();
	t.is(readLog(file).length, 10);
});

test('names files by the time of their lines', async t => {
	const {log, folder} = start(t, {flushMs: NEVER});
	await log.close();
	const rotated = new TrafficLog({destination: {folder, format: '%Y-%m-%dT%H:%M:%S.ndjson'}, flushMs: NEVER});
	const second = (): number => Math.floor(nowMicroseconds() / 1e6);
	const startSecond = second();
	for (let number = 0; number < 3; number++) {
		add(rotated, number);
		await until(() => second() > startSecond + number);
	}
	// All three seconds are still buffered: the name depends on the line, not on the time of writing.
	const lost = await rotated.close();
	const files = upTo(5).map(
		offset => `${new Date((startSecond + offset) * 1000).toISOString().slice(0, 19)}.ndjson`,
	);
	const found = files.map(name => join(folder, name)).filter(name => existsSync(name));
	t.is(lost, 0);
	t.deepEqual(found.flatMap(numbers), [0, 1, 2]);
	for (const name of found) for (const {time} of readLog(name)) t.true(name.includes(time.slice(0, 19)));
	t.true(found.length >= 3);
});

test('continues without loss when its folder is removed and restored', async t => {
	const {log, file, folder, troubles} = start(t, {flushMs: 5});
	add(log, 0);
	await until(() => lineCount(file) === 1);
	rmSync(folder, {recursive: true});
	add(log, 1);
	await until(() => troubles.length > 0);
	add(log, 2);
	mkdirSync(folder);
	await until(() => lineCount(file) === 2);
	t.is(await log.close(), 0);
	t.deepEqual(numbers(file), [1, 2]);
});

test('reports a failure once, and its end once', async t => {
	const {log, file, folder, troubles} = start(t, {flushMs: 1});
	rmSync(folder, {recursive: true});
	add(log, 1);
	for (let count = 0; count < 5; count++) await log.flush();
	t.is(troubles.length, 1);
	t.regex(troubles[0] ?? '', /cannot be written: ENOENT.*Traffic continues/);
	mkdirSync(folder);
	await until(() => troubles.length > 1);
	t.deepEqual(numbers(file), [1]);
	t.regex(troubles[1] ?? '', /written again/);
});

test('returns the number of unwritten bytes on close', async t => {
	const {log, folder} = start(t);
	rmSync(folder, {recursive: true});
	add(log, 1);
	t.is(await log.close(), '{"time":"2026-11-16T01:02:03.456789Z","n":1}\n'.length);
});

test('writes lines on close that were buffered during a failure', async t => {
	const {log, file, folder, troubles} = start(t);
	rmSync(folder, {recursive: true});
	add(log, 0);
	await log.flush();
	t.is(troubles.length, 1);
	add(log, 1);
	mkdirSync(folder);
	t.is(await log.close(), 0);
	t.deepEqual(numbers(file), [0, 1]);
});
