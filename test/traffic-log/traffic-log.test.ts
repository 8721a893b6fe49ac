import {existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {TrafficLog, type TrafficLogOptions} from '../../lib/traffic-log/traffic-log.js';
import {nowMicroseconds} from '../../lib/util/clock.js';
import {until} from '../helpers/pipeline.js';
import {addLine, lineCount, readLog, tempFolder} from '../helpers/temp-folder.js';

/** Long enough not to come in the way of a test. */
const NEVER = 3_600_000;

const start = (t: ExecutionContext, options: Partial<TrafficLogOptions> = {}) => {
	const folder = join(tempFolder(t), 'logs');
	mkdirSync(folder);
	const file = join(folder, 'log');
	const troubles: string[] = [];
	const onTrouble = (sentence: string) => void troubles.push(sentence);
	const log = new TrafficLog({destination: {file}, flushMs: NEVER, onTrouble, ...options});
	return {log, file, folder, troubles};
};

const add = (log: TrafficLog, number: number): void => addLine(log, 'n', number);
const numbers = (file: string): unknown[] => readLog(file).map(({n, event}) => n ?? event);
const upTo = (count: number): number[] => Array.from({length: count}, (_, index) => index);

test('writes lines in order, each with its time first', async t => {
	const {log, file} = start(t);
	for (const number of upTo(1000)) add(log, number);
	t.is(await log.close(), 0);
	t.deepEqual(numbers(file), upTo(1000));
	const times = readLog(file).map(({time}) => time);
	t.true(times.every((time, index) => time >= (times[index - 1] ?? '')));
	for (const line of readFileSync(file, 'utf8').trim().split('\n'))
		t.regex(line, /^\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z","n":\d+\}$/);
});

test('makes a file for its owner alone, and adds to one that is there', async t => {
	const {log, file} = start(t);
	add(log, 1);
	await log.close();
	t.is(statSync(file).mode & 0o777, 0o600);
	const again = new TrafficLog({destination: {file}});
	add(again, 2);
	await again.close();
	t.deepEqual(numbers(file), [1, 2]);
});

test('begins a line of its own after one that a crash left torn', async t => {
	const {log, file} = start(t);
	writeFileSync(file, '{"torn');
	add(log, 1);
	await log.close();
	t.regex(readFileSync(file, 'utf8'), /^\{"torn\n\{"time":.*"n":1\}\n$/);
});

test('touches no file before something is in it', async t => {
	const {log, file} = start(t);
	t.is(await log.close(), 0);
	t.false(existsSync(file));
});

test('writes together what comes within the flush time', async t => {
	const {log, file} = start(t, {flushMs: 30});
	add(log, 1);
	add(log, 2);
	t.false(existsSync(file));
	await until(() => lineCount(file) > 0);
	t.deepEqual(numbers(file), [1, 2]);
});

test('writes again after each flush time', async t => {
	const {log, file} = start(t, {flushMs: 5});
	for (const number of upTo(3)) {
		add(log, number);
		await until(() => lineCount(file) === number + 1);
	}
	t.deepEqual(numbers(file), upTo(3));
});

test('writes what is added while it is writing, also when nothing follows', async t => {
	const {log, file} = start(t, {flushMs: 1});
	add(log, 0);
	const flushing = log.flush();
	add(log, 1);
	// A flush that is asked for meanwhile must not make it forget the time of the line that waits.
	void log.flush();
	await flushing;
	await until(() => lineCount(file) === 2);
	t.deepEqual(numbers(file), [0, 1]);
});

test('writes before its time when there is much', async t => {
	const {log, file} = start(t);
	for (let count = 0; count < 10; count++) addLine(log, 'n', 'x'.repeat(2 ** 20));
	await until(() => existsSync(file) && statSync(file).size > 8 * 2 ** 20);
	await log.close();
	t.is(readLog(file).length, 10);
});

test('names files by the time of what is in them', async t => {
	const {log, folder} = start(t, {flushMs: NEVER});
	await log.close();
	const rotated = new TrafficLog({destination: {folder, format: '%Y-%m-%dT%H:%M:%S.ndjson'}, flushMs: NEVER});
	const second = (): number => Math.floor(nowMicroseconds() / 1e6);
	const begun = second();
	for (let number = 0; number < 3; number++) {
		add(rotated, number);
		await until(() => second() > begun + number);
	}
	// All three seconds still wait: the name comes from the line, not from the moment of writing.
	const lost = await rotated.close();
	const files = upTo(5).map(
		offset => `${new Date((begun + offset) * 1000).toISOString().slice(0, 19)}.ndjson`,
	);
	const found = files.map(name => join(folder, name)).filter(name => existsSync(name));
	t.is(lost, 0);
	t.deepEqual(found.flatMap(numbers), [0, 1, 2]);
	for (const name of found) for (const {time} of readLog(name)) t.true(name.includes(time.slice(0, 19)));
	t.true(found.length >= 3);
});

test('goes on after its folder was taken away and put back, without loss', async t => {
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

test('tells of a failure once, and of the end of it once', async t => {
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

test('says at its close how many bytes it could not write', async t => {
	const {log, folder} = start(t);
	rmSync(folder, {recursive: true});
	add(log, 1);
	t.is(await log.close(), '{"time":"2026-11-16T01:02:03.456789Z","n":1}\n'.length);
});

test('writes all at its close that waited through a failure', async t => {
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
