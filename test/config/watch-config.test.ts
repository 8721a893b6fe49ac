import {mkdir, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type LoadedConfig, loadConfigFile} from '../../lib/config/load-config.js';
import {type WatchConfigOptions, watchConfig} from '../../lib/config/watch-config.js';
import type {BridgeError} from '../../lib/core/errors.js';
import {newFolder} from '../helpers/program.js';

/** Never, as far as a test is concerned. */
const NEVER_MS = 2 ** 30;

type Event = LoadedConfig | BridgeError;

/** Watches a file, and hands out what happens, one after the other. */
async function start(t: ExecutionContext, file: string, options: Partial<WatchConfigOptions> = {}) {
	const events: Event[] = [];
	let wake = (): void => {};
	const tell = (event: Event): void => {
		events.push(event);
		wake();
	};
	const loaded = await loadConfigFile(file, {});
	const watching = watchConfig({
		loaded,
		environment: {},
		onLoaded: tell,
		onError: tell,
		settleMs: 10,
		pollMs: 20,
		...options,
	});
	// Watching alone does not keep a process from ending.
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

test('a file that is empty is told of, and does not end what holds [K3]', async t => {
	const file = await newFile(t);
	const {next, port} = await start(t, file);
	await writeFile(file, '');
	const event = await next();
	t.regex(String((event as BridgeError).message), /bridge\.yaml is empty/);
	await replaced(file, 'listen: 22');
	t.is(await port(), 22);
});

/** Writes a file as a whole, as those do who want nobody to see half of it. */
async function replaced(file: string, text: string): Promise<void> {
	await writeFile(`${file}.new`, text);
	await rename(`${file}.new`, file);
}

test('a file that is written to is read again', async t => {
	const file = await newFile(t);
	const {port} = await start(t, file, {settleMs: 300, pollMs: NEVER_MS});
	await writeFile(file, 'listen: 22');
	t.is(await port(), 22);
	await writeFile(file, 'listen: 333');
	t.is(await port(), 333);
});

test('a file that is replaced, as editors do, is read again', async t => {
	const file = await newFile(t);
	const {port} = await start(t, file);
	for (const number of [2, 3]) {
		await writeFile(`${file}.new`, `listen: ${number}`);
		await rename(`${file}.new`, file);
		t.is(await port(), number);
	}
});

test('the system tells of changes, without waiting for the next look', async t => {
	const file = await newFile(t);
	const {port} = await start(t, file, {pollMs: NEVER_MS});
	await replaced(file, 'listen: 2');
	t.is(await port(), 2);
});

test('a change that the system does not tell of is seen: a link whose folder is swapped', async t => {
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

test('a broken file is told of once, and the next good one is read [K3]', async t => {
	const file = await newFile(t);
	const {next, port, events} = await start(t, file);
	await replaced(file, 'lisen: 2');
	t.like(await next(), {code: 'ERR_CONFIG_INVALID'});
	await replaced(file, 'listen: 3');
	t.is(await port(), 3);
	t.deepEqual(events, []);
});

test('a file that is gone is told of once, and read when it is there again [K3]', async t => {
	const file = await newFile(t);
	const {next, port, events} = await start(t, file);
	await rm(file);
	const error = (await next()) as BridgeError;
	t.regex(error.message, /there is no such file/);
	await replaced(file, 'listen: 4');
	t.is(await port(), 4);
	t.deepEqual(events, []);
});

test('other files of the folder are nobody’s business', async t => {
	const file = await newFile(t);
	const {port, events} = await start(t, file);
	await writeFile(`${file}.bak`, 'listen: 9');
	await replaced(file, 'listen: 5');
	t.is(await port(), 5);
	t.deepEqual(events, []);
});

test('a change between reading the file and watching it is not missed', async t => {
	const file = await newFile(t);
	const loaded = await loadConfigFile(file, {});
	await replaced(file, 'listen: 66');
	const {port} = await start(t, file, {loaded});
	t.is(await port(), 66);
});

test('a file that has not changed is not read again', async t => {
	const file = await newFile(t);
	const {events} = await start(t, file);
	// One that has reason to tell, and begins later, has told by the time that the first would have.
	const other = await start(t, file, {loaded: {...(await loadConfigFile(file, {})), stamp: 'another'}});
	t.is(await other.port(), 1);
	t.deepEqual(events, []);
});

test('nothing is told after the end', async t => {
	const file = await newFile(t);
	const first = await start(t, file);
	const second = await start(t, file);
	first.watching.close();
	await replaced(file, 'listen: 77');
	t.is(await second.port(), 77);
	t.deepEqual(first.events, []);
});

test('where there is no file, there is nothing to watch', t => {
	const loaded = {file: undefined, stamp: ''} as unknown as LoadedConfig;
	const never = (): never => t.fail() as never;
	t.notThrows(() => watchConfig({loaded, onLoaded: never, onError: never}).close());
});
