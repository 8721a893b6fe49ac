import {mkdir, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type LoadedConfig, loadConfigFile} from '../../lib/config/load-config.js';
import {type WatchConfigOptions, watchConfig} from '../../lib/config/watch-config.js';
import type {BridgeError} from '../../lib/core/errors.js';
import {newFolder} from '../helpers/program.js';

/** Longer than any test. */
const NEVER_MS = 2 ** 30;

type Event = LoadedConfig | BridgeError;

/** Watches a file. The returned functions wait for the next event. */
async function start(t: ExecutionContext, file: string, options: Partial<WatchConfigOptions> = {}) {
	const events: Event[] = [];
	let wake = (): void => {};
	const record = (event: Event): void => {
		events.push(event);
		wake();
	};
	const loaded = await loadConfigFile(file, {});
	const watching = watchConfig({
		loaded,
		environment: {},
		onLoaded: record,
		onError: record,
		settleMs: 10,
		pollMs: 20,
		...options,
	});
	// The watcher does not keep the process alive.
	const alive = setInterval(() => {}, 1000);
	t.teardown(() => {
		watching.close();
		clearInterval(alive);
	});
	const next = async (): Promise<Event> => {
		while (events.length === 0)
			await new Promise<void>(resolve => {
				wake = resolve;
			});
		return events.shift() as Event;
	};
	const port = async (): Promise<number | undefined> => {
		const event = await next();
		return 'config' in event ? event.config.listen.port : undefined;
	};
	return {events, next, port, watching};
}

async function newFile(t: ExecutionContext): Promise<string> {
	const file = join(await newFolder(t), 'bridge.yaml');
	await writeFile(file, 'listen: 1');
	return file;
}

test('rejects an empty file and keeps the previous configuration [K3]', async t => {
	const file = await newFile(t);
	const {next, port} = await start(t, file);
	await writeFile(file, '');
	const event = await next();
	t.regex(String((event as BridgeError).message), /bridge\.yaml is empty/);
	await replaced(file, 'listen: 22');
	t.is(await port(), 22);
});

/** Replaces a file atomically, so that it is never partially written. */
async function replaced(file: string, text: string): Promise<void> {
	await writeFile(`${file}.new`, text);
	await rename(`${file}.new`, file);
}

test('reloads a file after a write', async t => {
	const file = await newFile(t);
	const {port} = await start(t, file, {settleMs: 300, pollMs: NEVER_MS});
	await writeFile(file, 'listen: 22');
	t.is(await port(), 22);
	await writeFile(file, 'listen: 333');
	t.is(await port(), 333);
});

test('reloads a file that is replaced, as editors do', async t => {
	const file = await newFile(t);
	const {port} = await start(t, file);
	for (const number of [2, 3]) {
		await writeFile(`${file}.new`, `listen: ${number}`);
		await rename(`${file}.new`, file);
		t.is(await port(), number);
	}
});

test('file system events trigger a reload before the next poll', async t => {
	const file = await newFile(t);
	const {port} = await start(t, file, {pollMs: NEVER_MS});
	await replaced(file, 'listen: 2');
	t.is(await port(), 2);
});

test('polling detects a swapped link in the path, which causes no event', async t => {
	const folder = await newFolder(t);
	for (const name of ['one', 'two']) await mkdir(join(folder, name));
	await mkdir(join(folder, 'conf'));
	await writeFile(join(folder, 'one/bridge.yaml'), 'listen: 1');
	await writeFile(join(folder, 'two/bridge.yaml'), 'listen: 2');
	await symlink('one', join(folder, 'data'));
	await symlink('../data/bridge.yaml', join(folder, 'conf/bridge.yaml'));
	const {port} = await start(t, join(folder, 'conf/bridge.yaml'));
	await symlink('two', join(folder, 'data.new'));
	await rename(join(folder, 'data.new'), join(folder, 'data'));
	t.is(await port(), 2);
});

test('reports an invalid file once and loads the next valid one [K3]', async t => {
	const file = await newFile(t);
	const {next, port, events} = await start(t, file);
	await replaced(file, 'lisen: 2');
	t.like(await next(), {code: 'ERR_CONFIG_INVALID'});
	await replaced(file, 'listen: 3');
	t.is(await port(), 3);
	t.deepEqual(events, []);
});

test('reports a missing file once and loads it when it reappears [K3]', async t => {
	const file = await newFile(t);
	const {next, port, events} = await start(t, file);
	await rm(file);
	const error = (await next()) as BridgeError;
	t.regex(error.message, /no such file/);
	await replaced(file, 'listen: 4');
	t.is(await port(), 4);
	t.deepEqual(events, []);
});

test('ignores other files in the folder', async t => {
	const file = await newFile(t);
	const {port, events} = await start(t, file);
	await writeFile(`${file}.bak`, 'listen: 9');
	await replaced(file, 'listen: 5');
	t.is(await port(), 5);
	t.deepEqual(events, []);
});

test('detects a change between loading and watching', async t => {
	const file = await newFile(t);
	const loaded = await loadConfigFile(file, {});
	await replaced(file, 'listen: 66');
	const {port} = await start(t, file, {loaded});
	t.is(await port(), 66);
});

test('does not reload an unchanged file', async t => {
	const file = await newFile(t);
	const {events} = await start(t, file);
	// The second watcher starts later with a change. By its event, the first would have reported one as well.
	const other = await start(t, file, {loaded: {...(await loadConfigFile(file, {})), stamp: 'another'}});
	t.is(await other.port(), 1);
	t.deepEqual(events, []);
});

test('reports nothing after close', async t => {
	const file = await newFile(t);
	const first = await start(t, file);
	const second = await start(t, file);
	first.watching.close();
	await replaced(file, 'listen: 77');
	t.is(await second.port(), 77);
	t.deepEqual(first.events, []);
});

test('watches nothing without a file', t => {
	const loaded = {file: undefined, stamp: ''} as unknown as LoadedConfig;
	const never = (): never => t.fail() as never;
	t.notThrows(() => watchConfig({loaded, onLoaded: never, onError: never}).close());
});
