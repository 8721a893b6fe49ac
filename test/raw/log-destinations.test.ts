import {existsSync, mkdirSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {LogDestinations, type MultiDestinationLog} from '../../lib/raw/log-destinations.js';
import type {TrafficLine} from '../../lib/traffic-log/records.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {lineOf} from './support.js';

const FORMAT = 'x_%Y.ndjson';

/** Destinations of a log that only keeps what it is told. */
function start(t: ExecutionContext, isStdoutNull = false) {
	const opened: unknown[] = [];
	const said: Array<{readonly [key: string]: unknown}> = [];
	const closed: Array<readonly [key: number, last: unknown]> = [];
	const withoutTime = (line: TrafficLine): {readonly [key: string]: unknown} => {
		const {time: _, ...rest} = lineOf(line);
		return rest;
	};
	const log: MultiDestinationLog = {
		add: line => void said.push(withoutTime(line)),
		open: destination => opened.push(destination),
		async close(key, last) {
			closed.push([key, last && withoutTime(last)]);
			return {lostBytes: 0, leftOutLines: 0};
		},
	};
	const destinations = new LogDestinations({log, format: FORMAT, isStdoutNull, onLost: () => t.fail()});
	return {destinations, opened, said, closed, folder: join(tempFolder(t), 'logs')};
}

test('LOG a folder is made for its owner alone, and named in the event as it was given', async t => {
	const {destinations, opened, said, folder} = start(t);
	await destinations.start(folder);
	t.is(statSync(folder).mode & 0o777, 0o700);
	t.deepEqual(opened, [{folder, format: FORMAT}]);
	t.deepEqual(said, [{event: 'start-logging', directory: folder, filename_format: FORMAT}]);
});

test('LOG the event of stdout has null for a directory, and no format', async t => {
	const {destinations, opened, said} = start(t);
	await destinations.start(null, 'unused');
	t.deepEqual(opened, ['stdout']);
	t.deepEqual(said, [{event: 'start-logging', directory: null}]);
});

test('LOG what is started twice is told twice, and logged to once', async t => {
	const {destinations, opened, said, folder} = start(t);
	for (const directory of [null, null, folder, join(folder, '.')]) await destinations.start(directory);
	t.is(opened.length, 2);
	t.is(said.length, 4);
});

test('LOG another format for the same folder takes the place of the first', async t => {
	const {destinations, opened, closed, folder} = start(t);
	await destinations.start(folder);
	await destinations.start(folder, 'other');
	t.is(opened.length, 2);
	t.deepEqual(closed, [[1, undefined]]);
	t.deepEqual(await destinations.stop(), [folder]);
});

test('LOG one destination is stopped, with an event for itself alone', async t => {
	const {destinations, said, closed, folder} = start(t);
	await destinations.start(null);
	await destinations.start(folder);
	t.deepEqual(await destinations.stop(null), ['STDOUT']);
	t.deepEqual(closed, [[1, {event: 'stop-logging', directory: null}]]);
	t.is(said.length, 2);
	t.deepEqual(await destinations.stop(folder), [folder]);
});

test('LOG without a name all are stopped, also when there is none', async t => {
	const {destinations, closed, folder} = start(t);
	await destinations.start(null);
	await destinations.start(folder);
	t.deepEqual(await destinations.stop(), ['STDOUT', folder]);
	t.is(closed.length, 2);
	t.deepEqual(await destinations.stop(), []);
});

test('LOG what is not logged to cannot be stopped', async t => {
	const {destinations, folder} = start(t);
	await t.throwsAsync(destinations.stop(folder), {message: `Nothing is logged to ${folder}.`});
	await t.throwsAsync(destinations.stop(null), {message: 'Nothing is logged to STDOUT.'});
});

for (const format of ['../x', 'a/b', '.', '..', 'a\0b', ''])
	test(`a format of ${JSON.stringify(format)} is refused, and no folder made [I6]`, async t => {
		const {destinations, opened, folder} = start(t);
		await t.throwsAsync(destinations.start(folder, format), {code: 'ERR_CONFIG_INVALID'});
		t.false(existsSync(folder));
		t.deepEqual(opened, []);
	});

test('what is no folder is refused [I6]', async t => {
	const {destinations, opened, folder} = start(t);
	mkdirSync(folder);
	const file = join(folder, 'file');
	writeFileSync(file, '');
	await t.throwsAsync(destinations.start(file), {message: /cannot be written to/});
	await t.throwsAsync(destinations.start(join(file, 'below')), {message: /cannot be written to/});
	t.deepEqual(opened, []);
});

test('nothing is written to a stdout that nobody sees', async t => {
	const {destinations, opened} = start(t, true);
	await destinations.start(null);
	t.deepEqual(opened, []);
	t.deepEqual(await destinations.stop(null), ['STDOUT']);
});
