import {once} from 'node:events';
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {sessionEntry} from '../../../fixtures/sessions/entry.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {onDisk, openRegistry, startSaver} from './support.js';

test('stores a session with all its fields in registry.json before put resolves [FR-5.1] [FR-5.2] [FR-5.5]', async t => {
	const folder = join(tempFolder(t), 'codex-sessions', 'red');
	const registry = await openRegistry(t, folder);
	const entry = sessionEntry();
	await registry.put(entry);
	t.deepEqual(onDisk(folder), {version: 1, sessions: [{...entry}]});
	await registry.put({...entry, state: 'busy', turns: 2});
	t.like(onDisk(folder).sessions[0], {state: 'busy', turns: 2});
	await registry.remove(entry.codex_id);
	t.deepEqual(onDisk(folder).sessions, []);
	t.deepEqual(registry.health(), {persist: 'ok', lastError: undefined, corruptFile: undefined});
});

test('creates folders and files for their owner only, whatever the umask [G6]', async t => {
	const before = process.umask(0);
	t.teardown(() => process.umask(before));
	const folder = join(tempFolder(t), 'a', 'red');
	mkdirSync(folder, {recursive: true, mode: 0o777});
	const registry = await openRegistry(t, folder);
	await registry.put(sessionEntry());
	await registry.reserve('arch-ctm', 'codex:1');
	t.is(statSync(folder).mode & 0o777, 0o700);
	for (const name of ['registry.json', 'arch-ctm.lock'])
		t.is(statSync(join(folder, name)).mode & 0o777, 0o600, name);
});

test('finds a session by codex id, current or previous thread id, or identity, and prefers active ones', async t => {
	const registry = await openRegistry(t, tempFolder(t));
	const older = sessionEntry({
		codex_id: 'codex:a',
		thread_id: 't1',
		status: 'closed',
		last_active: '2026-11-01T00:00:00.000Z',
	});
	const newer = sessionEntry({
		codex_id: 'codex:b',
		thread_id: 't3',
		previous_thread_ids: ['t2'],
		status: 'stale',
	});
	await Promise.all([registry.put(older), registry.put(newer)]);
	t.is(registry.get('codex:a')?.thread_id, 't1');
	t.is(registry.find('codex:a')?.codex_id, 'codex:a');
	t.is(registry.find('t1')?.codex_id, 'codex:a');
	t.is(registry.find('t2')?.codex_id, 'codex:b');
	t.is(registry.find('arch-ctm')?.codex_id, 'codex:b');
	await registry.put({...older, status: 'active'});
	t.is(registry.find('arch-ctm')?.codex_id, 'codex:a');
	t.is(registry.find('unknown'), undefined);
});

test('marks active sessions of a killed process as stale at startup and releases their identities [FR-3.2] [H15]', async t => {
	const folder = tempFolder(t);
	const {child, next} = startSaver(t, folder, 'gone', '1', 'arch-ctm');
	t.is(await next(), 'open 0');
	t.is(await next(), '{"isReserved":true}');
	t.is(await next(), 'saved codex:gone-0');
	const other = await openRegistry(t, folder);
	const live = sessionEntry({codex_id: 'codex:gone'});
	await other.put(live);
	await other.close();
	// While the process is alive, its session stays active and its identity reserved.
	const meanwhile = await openRegistry(t, folder);
	t.is(meanwhile.get('codex:gone')?.status, 'active');
	const reservation = await meanwhile.reserve('arch-ctm', 'codex:mine');
	t.like(reservation, {isReserved: false, owner: {codexId: 'codex:gone', pid: child.pid}});
	child.kill('SIGKILL');
	await once(child, 'exit');
	const later = await openRegistry(t, folder);
	t.is(later.get('codex:gone')?.status, 'stale');
	t.is(onDisk(folder).sessions.find(({codex_id}) => codex_id === 'codex:gone')?.status, 'stale');
	t.false(existsSync(join(folder, 'arch-ctm.lock')));
	t.deepEqual(await later.reserve('arch-ctm', 'codex:mine'), {isReserved: true});
});

test('exactly one of many concurrent reservations of an identity succeeds, and the others return its owner [FR-3.1] [H5]', async t => {
	const folder = tempFolder(t);
	const registries = [await openRegistry(t, folder), await openRegistry(t, folder)];
	const reservations = Array.from({length: 20}, (_, at) =>
		registries[at % 2]?.reserve('dev-1', `codex:${at}`),
	);
	const results = await Promise.all(reservations);
	const winners = results.flatMap((result, at) => (result?.isReserved ? [`codex:${at}`] : []));
	t.is(winners.length, 1);
	for (const result of results) if (!result?.isReserved) t.is(result?.owner.codexId, winners[0]);
	const lock = JSON.parse(readFileSync(join(folder, 'dev-1.lock'), 'utf8'));
	t.like(lock, {pid: process.pid, codex_id: winners[0]});
	t.regex(lock.startedAt, /^\d{4}-.*Z$/);
	for (const registry of registries) await registry.release('dev-1');
	t.false(existsSync(join(folder, 'dev-1.lock')));
	t.deepEqual(await registries[1]?.reserve('dev-1', 'codex:again'), {isReserved: true});
});

for (const [description, text] of [
	['of an exited process', '{"pid":4194304,"codex_id":"codex:x","startedAt":"2026-11-17T08:00:00.000Z"}'],
	[
		'whose pid now belongs to another process',
		`{"pid":1,"codex_id":"codex:x","startedAt":"1990-01-01T00:00:00.000Z"}`,
	],
	['that is truncated', '{"pid":'],
	['that is empty', ''],
] as const)
	test(`replaces an identity lock ${description} [5.3]`, async t => {
		const folder = tempFolder(t);
		const registry = await openRegistry(t, folder);
		writeFileSync(join(folder, 'dev-1.lock'), text);
		t.deepEqual(await registry.reserve('dev-1', 'codex:mine'), {isReserved: true});
		t.is(JSON.parse(readFileSync(join(folder, 'dev-1.lock'), 'utf8')).codex_id, 'codex:mine');
	});

test('respects an identity lock of a live process, even without its process identity [5.3]', async t => {
	const folder = tempFolder(t);
	const registry = await openRegistry(t, folder);
	const lock = {pid: process.ppid, codex_id: 'codex:x', startedAt: new Date().toISOString()};
	writeFileSync(join(folder, 'dev-1.lock'), JSON.stringify(lock));
	t.like(await registry.reserve('dev-1', 'codex:mine'), {
		isReserved: false,
		owner: {codexId: 'codex:x', pid: process.ppid},
	});
	await registry.release('dev-1');
	t.true(existsSync(join(folder, 'dev-1.lock')), 'a foreign lock is not released');
});

test('preserves unknown members and entries on every save [FR-5.3]', async t => {
	const folder = tempFolder(t);
	const unknown = {codex_id: 7, kind: 'unknown'};
	const known = {...sessionEntry({status: 'closed'}), color: 'blue'};
	writeFileSync(
		join(folder, 'registry.json'),
		JSON.stringify({version: 1, owner: 'me', sessions: [unknown, known]}),
	);
	const registry = await openRegistry(t, folder);
	t.deepEqual(
		registry.entries().map(({codex_id}) => codex_id),
		['codex:1'],
	);
	await registry.put(sessionEntry({status: 'closed', turns: 3}));
	await registry.put(sessionEntry({codex_id: 'codex:2'}));
	const {owner, sessions} = onDisk(folder);
	t.is(owner, 'me');
	t.deepEqual(sessions[0], unknown);
	t.like(sessions[1], {color: 'blue', turns: 3});
	t.is(sessions.length, 3);
});

test("two registries of one folder preserve each other's sessions [5.3]", async t => {
	const folder = tempFolder(t);
	const [one, other] = [await openRegistry(t, folder), await openRegistry(t, folder)];
	const puts = Array.from({length: 40}, (_, at) =>
		(at % 2 ? one : other).put(sessionEntry({codex_id: `codex:${at}`, identity: `dev-${at}`})),
	);
	await Promise.all(puts);
	t.is(onDisk(folder).sessions.length, 40);
	await one.put({...sessionEntry({codex_id: 'codex:1', identity: 'dev-1'}), turns: 5});
	t.is(one.entries().length, 40);
	await other.put({...sessionEntry({codex_id: 'codex:0', identity: 'dev-0'}), turns: 6});
	t.is(other.get('codex:1')?.turns, 5, 'each save reads the changes of the other registry');
});

test('combines concurrent changes into few saves [5.5]', async t => {
	const folder = tempFolder(t);
	const registry = await openRegistry(t, folder);
	await registry.put(sessionEntry());
	const seen = new Set<number>();
	let isDone = false;
	const watch = (async () => {
		while (!isDone) {
			seen.add(statSync(join(folder, 'registry.json')).ino);
			await new Promise(setImmediate);
		}
	})();
	await Promise.all(
		Array.from({length: 300}, (_, at) => registry.put(sessionEntry({codex_id: `codex:${at}`}))),
	);
	isDone = true;
	await watch;
	t.is(onDisk(folder).sessions.length, 300);
	t.true(seen.size <= 3, `${seen.size} files`);
});

test('coalesces touches and saves them on flush', async t => {
	const folder = tempFolder(t);
	const registry = await openRegistry(t, folder);
	await registry.put(sessionEntry());
	const {ino} = statSync(join(folder, 'registry.json'));
	for (let second = 10; second < 50; second++)
		registry.touch('codex:1', new Date(`2026-11-17T09:00:${second}Z`));
	t.is(registry.get('codex:1')?.last_active, '2026-11-17T09:00:49.000Z');
	t.is(statSync(join(folder, 'registry.json')).ino, ino, 'no save yet');
	await registry.flush();
	t.is(onDisk(folder).sessions[0]?.last_active, '2026-11-17T09:00:49.000Z');
	registry.touch('codex:unknown', new Date());
	t.is(registry.get('codex:unknown'), undefined);
});

test('keeps the newest 1,000 ended sessions and all active ones, and archives the others', async t => {
	const folder = tempFolder(t);
	const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
	const ended = Array.from({length: 1005}, (_, index) =>
		sessionEntry({
			codex_id: `codex:${index}`,
			identity: `dev-${index}`,
			status: 'closed',
			last_active: at(index),
		}),
	);
	const live = sessionEntry({codex_id: 'codex:live', last_active: at(-1)});
	const registry = await openRegistry(t, folder);
	await Promise.all([...ended, live].map(entry => registry.put(entry)));
	const ids = onDisk(folder).sessions.map(({codex_id}) => codex_id);
	t.is(ids.length, 1001);
	t.true(ids.includes('codex:live'));
	const archive = readFileSync(join(folder, 'registry-archive.jsonl'), 'utf8').trimEnd().split('\n');
	t.deepEqual(archive.map(line => JSON.parse(line).codex_id).sort(), [
		'codex:0',
		'codex:1',
		'codex:2',
		'codex:3',
		'codex:4',
	]);
	t.is(statSync(join(folder, 'registry-archive.jsonl')).mode & 0o777, 0o600);
	t.is(registry.get('codex:0'), undefined);
});

test('persist_threads = false writes nothing to disk but still reserves identities', async t => {
	const folder = join(tempFolder(t), 'none');
	const registry = await openRegistry(t, folder, {isPersistent: false});
	await registry.put(sessionEntry());
	t.is(registry.entries().length, 1);
	t.deepEqual(await registry.reserve('dev-1', 'codex:1'), {isReserved: true});
	t.like(await registry.reserve('dev-1', 'codex:2'), {isReserved: false, owner: {codexId: 'codex:1'}});
	await registry.release('dev-1');
	t.deepEqual(await registry.reserve('dev-1', 'codex:2'), {isReserved: true});
	t.is(registry.health().persist, 'off');
	await registry.close();
	t.false(existsSync(folder));
});
