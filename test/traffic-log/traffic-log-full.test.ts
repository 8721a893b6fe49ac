import {existsSync, mkdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {MessageOrigin} from '../../lib/core/envelope.js';
import {Valve} from '../../lib/core/valve.js';
import {TrafficLog, type TrafficLogOptions} from '../../lib/traffic-log/traffic-log.js';
import {until} from '../helpers/pipeline.js';
import {addFrame, addLine, readLog, tempFolder} from '../helpers/temp-folder.js';

const NEVER = 3_600_000;

const start = (t: ExecutionContext, options: Partial<TrafficLogOptions> = {}) => {
	const folder = join(tempFolder(t), 'logs');
	mkdirSync(folder);
	const file = join(folder, 'log');
	const log = new TrafficLog({destination: {file}, flushMs: NEVER, maxBytes: 1000, ...options});
	return {log, file, folder};
};

const origin = (): MessageOrigin => ({name: 'client', valve: new Valve()});
const add = (log: TrafficLog, from?: MessageOrigin): void => addLine(log, 'n', 'x'.repeat(298), from);

test('drops lines over the limit and records a gap in their place', async t => {
	const {log, file} = start(t);
	for (let count = 0; count < 5; count++) add(log);
	await log.flush();
	add(log);
	t.is(await log.close(), 0);
	const lines = readLog(file);
	const gaps = lines.filter(({event}) => event === 'gap');
	t.is(gaps.length, 1);
	t.like(gaps[0], {lines: 5 - lines.indexOf(gaps[0] ?? lines[0] ?? {time: ''})});
	t.is(lines.at(-2), gaps[0]);
});

test('counts the dropped bytes', async t => {
	const {log, file} = start(t, {maxBytes: 0});
	add(log);
	add(log);
	await log.close();
	const [gap] = readLog(file);
	t.like(gap, {event: 'gap', lines: 2});
	t.true(Number(gap?.bytes) >= 600 && Number(gap?.bytes) < 800, `${gap?.bytes} bytes`);
});

test('counts the dropped bytes of lines without data', async t => {
	const {log, file} = start(t, {maxBytes: 0});
	addFrame(log, 'data', 'x'.repeat(1000));
	await log.close();
	const [gap] = readLog(file);
	t.true(Number(gap?.bytes) >= 1000, `${gap?.bytes} bytes`);
});

test('returns all lost bytes on close if nothing can be written', async t => {
	const {log, folder} = start(t, {maxBytes: 10_000});
	rmSync(folder, {recursive: true});
	for (let count = 0; count < 100; count++) addFrame(log, 'data', 'x'.repeat(1000));
	const lost = await log.close();
	t.true(lost >= 100_000, `${lost} bytes`);
});

test('records a gap at the end on close', async t => {
	const {log, file} = start(t);
	for (let count = 0; count < 5; count++) add(log);
	await log.close();
	t.like(readLog(file).at(-1), {event: 'gap'});
});

test('never applies backpressure by default', t => {
	const {log} = start(t);
	const from = origin();
	for (let count = 0; count < 10; count++) add(log, from);
	t.true(from.valve.isOpen);
});

test('applies backpressure with onFull: wait until lines are written', async t => {
	const {log, file} = start(t, {onFull: 'wait', flushMs: 5});
	const [one, other] = [origin(), origin()];
	add(log, one);
	t.true(one.valve.isOpen);
	for (let count = 0; count < 4; count++) add(log, one);
	add(log, other);
	t.false(one.valve.isOpen);
	t.false(other.valve.isOpen);
	await until(() => one.valve.isOpen && other.valve.isOpen);
	await log.close();
	t.is(readLog(file).length, 6);
});

test('writes at once when the buffer is full', async t => {
	const {log, file} = start(t, {onFull: 'wait', flushMs: 60_000});
	const from = origin();
	for (let count = 0; count < 5; count++) add(log, from);
	t.false(from.valve.isOpen);
	const started = performance.now();
	await until(() => from.valve.isOpen || performance.now() - started > 3000);
	t.true(from.valve.isOpen);
	t.true(existsSync(file));
});

test('ends backpressure when a flush is requested during a write', async t => {
	const {log, file} = start(t, {onFull: 'wait', flushMs: 5});
	const from = origin();
	add(log, from);
	const flushing = log.flush();
	for (let count = 0; count < 5; count++) add(log, from);
	t.false(from.valve.isOpen);
	// The flush time passes while the first lines are still being written.
	void log.flush();
	await flushing;
	await until(() => from.valve.isOpen);
	await log.close();
	t.is(readLog(file).length, 6);
});

test('applies backpressure while the disk fails, and ends it when writing works again', async t => {
	const {log, file, folder} = start(t, {onFull: 'wait', flushMs: 5});
	rmSync(folder, {recursive: true});
	const from = origin();
	for (let count = 0; count < 5; count++) add(log, from);
	await log.flush();
	t.false(from.valve.isOpen);
	mkdirSync(folder);
	await until(() => from.valve.isOpen);
	await log.close();
	t.is(readLog(file).length, 5);
});

test('ends backpressure on close even if nothing can be written', async t => {
	const {log, folder} = start(t, {onFull: 'wait'});
	rmSync(folder, {recursive: true});
	const from = origin();
	for (let count = 0; count < 5; count++) add(log, from);
	t.true((await log.close()) > 0);
	t.true(from.valve.isOpen);
});
