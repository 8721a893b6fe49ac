import {existsSync, mkdirSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {LogDestinations, type MultiDestinationLog} from '../../lib/raw/log-destinations.js';
import type {TrafficLine} from '../../lib/traffic-log/records.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {lineOf} from './support.js';

const FORMAT = 'x_%Y.ndjson';

/** Destinations of a log that only records its calls. */
function start(t: ExecutionContext, isStdoutNull = false) {
	const opened: unknown[] = [];
	const recorded: Array<{readonly [key: string]: unknown}> = [];
	const closed: Array<readonly [key: number, last: unknown]> = [];
	const withoutTime = (line: TrafficLine): {readonly [key: string]: unknown} => {
		const {time: _, ...rest} = lineOf(line);
		return rest;
	};
	const log: MultiDestinationLog = {
		add: line => void recorded.push(withoutTime(line)),
		open: destination => opened.push(destination),
		async close(key, last) {
			closed.push([key, last && withoutTime(last)]);
			return {lostBytes: 0, leftOutLines: 0};
		},
	};
	const destinations = new LogDestinations({log, format: FORMAT, isStdoutNull, onLost: () => t.fail()});
	return {destinations, opened, recorded, closed, folder: join(tempFolder(t), 'logs')};
}

test('creates a folder that only its owner can access, and records it as requested', async t => {
	const {destinations, opened, recorded, folder} = start(t);
	await destinations.start(folder);
	t.is(statSync(folder).mode & 0o777, 0o700);
	t.deepEqual(opened, [{folder, format: FORMAT}]);
	t.deepEqual(recorded, [{event: 'start-logging', directory: folder, filename_format: FORMAT}]);
});

test('records stdout with directory null and without a format', async t => {
	const {destinations, opened, recorded} = start(t);
	await destinations.start(null, 'unused');
	t.deepEqual(opened, ['stdout']);
	t.deepEqual(recorded, [{event: 'start-logging', directory: null}]);
});

test('records a repeated start, but opens the destination once', async t => {
	const {destinations, opened, recorded, folder} = start(t);
	for (const directory of [null, null, folder, join(folder, '.')]) await destinations.start(directory);
	t.is(opened.length, 2);
	t.is(recorded.length, 4);
});

test('replaces the format of an active folder', async t => {
	const {destinations, opened, closed, folder} = start(t);
	await destinations.start(folder);
	await destinations.start(folder, 'other');
	t.is(opened.length, 2);
	t.deepEqual(closed, [[1, undefined]]);
	t.deepEqual(await destinations.stop(), [folder]);
});

test('stops one destination with an event for that destination only', async t => {
	const {destinations, recorded, closed, folder} = start(t);
	await destinations.start(null);
	await destinations.start(folder);
	t.deepEqual(await destinations.stop(null), ['STDOUT']);
	t.deepEqual(closed, [[1, {event: 'stop-logging', directory: null}]]);
	t.is(recorded.length, 2);
	t.deepEqual(await destinations.stop(folder), [folder]);
});

test('stops all destinations without an argument, even if there are none', async t => {
	const {destinations, closed, folder} = start(t);
	await destinations.start(null);
	await destinations.start(folder);
	t.deepEqual(await destinations.stop(), ['STDOUT', folder]);
	t.is(closed.length, 2);
	t.deepEqual(await destinations.stop(), []);
});

test('rejects the stop of an inactive destination', async t => {
	const {destinations, folder} = start(t);
	await t.throwsAsync(destinations.stop(folder), {message: `Nothing is logged to ${folder}.`});
	await t.throwsAsync(destinations.stop(null), {message: 'Nothing is logged to STDOUT.'});
});

for (const format of ['../x', 'a/b', '.', '..', 'a\0b', ''])
	test(`rejects the format ${JSON.stringify(format)} without creating a folder [I6]`, async t => {
		const {destinations, opened, folder} = start(t);
		await t.throwsAsync(destinations.start(folder, format), {code: 'ERR_CONFIG_INVALID'});
		t.false(existsSync(folder));
		t.deepEqual(opened, []);
	});

test('rejects a path that is not a folder [I6]', async t => {
	const {destinations, opened, folder} = start(t);
	mkdirSync(folder);
	const file = join(folder, 'file');
	writeFileSync(file, '');
	await t.throwsAsync(destinations.start(file), {message: /cannot be written to/});
	await t.throwsAsync(destinations.start(join(file, 'below')), {message: /cannot be written to/});
	t.deepEqual(opened, []);
});

test('writes nothing to a stdout that is /dev/null', async t => {
	const {destinations, opened} = start(t, true);
	await destinations.start(null);
	t.deepEqual(opened, []);
	t.deepEqual(await destinations.stop(null), ['STDOUT']);
});
