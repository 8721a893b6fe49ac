import {once} from 'node:events';
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {sessionEntry} from '../../../fixtures/sessions/entry.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {onDisk, openRegistry, startSaver} from './support.js';

test('a session that is put is in registry.json with all its fields when that is acknowledged [FR-5.1] [FR-5.2] [FR-5.5]', async t => {
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

test('folders are for their owner alone, and so are files, whatever the umask [G6]', async t => {
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

test('a session is found by codex id, thread id, previous thread id and identity: active before newest', async t => {
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
	t.is(registry.find('nobody'), undefined);
});

test('active sessions of a process that is gone are stale at the next start, and their identities free [FR-3.2] [H15]', async t => {
	const folder = tempFolder(t);
	const {child, next} = startSaver(t, folder, 'gone', '1', 'arch-ctm');
	t.is(await next(), 'open 0');
	t.is(await next(), '{"isHeld":true}');
	t.is(await next(), 'saved codex:gone-0');
	const other = await openRegistry(t, folder);
	const live = sessionEntry({codex_id: 'codex:gone'});
	await other.put(live);
	await other.close();
	// While its process lives, it is left alone, and its identity is taken.
	const meanwhile = await openRegistry(t, folder);
	t.is(meanwhile.get('codex:gone')?.status, 'active');
	const refused = await meanwhile.reserve('arch-ctm', 'codex:mine');
	t.like(refused, {isHeld: false, holder: {codexId: 'codex:gone', pid: child.pid}});
	child.kill('SIGKILL');
	await once(child, 'exit');
	const later = await openRegistry(t, folder);
	t.is(later.get('codex:gone')?.status, 'stale');
	t.is(onDisk(folder).sessions.find(({codex_id}) => codex_id === 'codex:gone')?.status, 'stale');
	t.false(existsSync(join(folder, 'arch-ctm.lock')));
	t.deepEqual(await later.reserve('arch-ctm', 'codex:mine'), {isHeld: true});
});

test('of many who want an identity at once exactly one gets it, and the others are told who [FR-3.1] [H5]', async t => {
	const folder = tempFolder(t);
	const registries = [await openRegistry(t, folder), await openRegistry(t, folder)];
	const wishes = Array.from({length: 20}, (_, at) => registries[at % 2]?.reserve('dev-1', `codex:${at}`));
	const results = await Promise.all(wishes);
	const winners = results.flatMap((result, at) => (result?.isHeld ? [`codex:${at}`] : []));
	t.is(winners.length, 1);
	for (const result of results) if (!result?.isHeld) t.is(result?.holder.codexId, winners[0]);
	const lock = JSON.parse(readFileSync(join(folder, 'dev-1.lock'), 'utf8'));
	t.like(lock, {pid: process.pid, codex_id: winners[0]});
	t.regex(lock.startedAt, /^\d{4}-.*Z$/);
	for (const registry of registries) await registry.release('dev-1');
	t.false(existsSync(join(folder, 'dev-1.lock')));
	t.deepEqual(await registries[1]?.reserve('dev-1', 'codex:again'), {isHeld: true});
});

for (const [what, text] of [
	['of a dead process', '{"pid":4194304,"codex_id":"codex:x","startedAt":"2026-11-17T08:00:00.000Z"}'],
	[
		'of another process that now has the number',
		`{"pid":1,"codex_id":"codex:x","startedAt":"1990-01-01T00:00:00.000Z"}`,
	],
	['that was never finished', '{"pid":'],
	['that is empty', ''],
] as const)
	test(`5.3 an identity lock ${what} is taken over`, async t => {
		const folder = tempFolder(t);
		const registry = await openRegistry(t, folder);
		writeFileSync(join(folder, 'dev-1.lock'), text);
		t.deepEqual(await registry.reserve('dev-1', 'codex:mine'), {isHeld: true});
		t.is(JSON.parse(readFileSync(join(folder, 'dev-1.lock'), 'utf8')).codex_id, 'codex:mine');
	});

test('5.3 an identity lock of a live process holds, also one that says no more than its number', async t => {
	const folder = tempFolder(t);
	const registry = await openRegistry(t, folder);
	const lock = {pid: process.ppid, codex_id: 'codex:x', startedAt: new Date().toISOString()};
	writeFileSync(join(folder, 'dev-1.lock'), JSON.stringify(lock));
	t.like(await registry.reserve('dev-1', 'codex:mine'), {
		isHeld: false,
		holder: {codexId: 'codex:x', pid: process.ppid},
	});
	await registry.release('dev-1');
	t.true(existsSync(join(folder, 'dev-1.lock')), 'a foreign lock is not given back');
});

test('members and entries that this version does not know survive every save [FR-5.3]', async t => {
	const folder = tempFolder(t);
	const strange = {codex_id: 7, what: 'nobody knows'};
	const known = {...sessionEntry({status: 'closed'}), colour: 'blue'};
	writeFileSync(
		join(folder, 'registry.json'),
		JSON.stringify({version: 1, owner: 'me', sessions: [strange, known]}),
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
	t.deepEqual(sessions[0], strange);
	t.like(sessions[1], {colour: 'blue', turns: 3});
	t.is(sessions.length, 3);
});

test("5.3 two registries of one folder keep each other's sessions", async t => {
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
	t.is(other.get('codex:1')?.turns, 5, 'what the other wrote is seen with the next save');
});

test('5.5 what many ask for at once is few saves', async t => {
	const folder = tempFolder(t);
	const registry = await openRegistry(t, folder);
	await registry.put(sessionEntry());
	const seen = new Set<number>();
	let isOver = false;
	const watch = (async () => {
		while (!isOver) {
			seen.add(statSync(join(folder, 'registry.json')).ino);
			await new Promise(setImmediate);
		}
	})();
	await Promise.all(
		Array.from({length: 300}, (_, at) => registry.put(sessionEntry({codex_id: `codex:${at}`}))),
	);
	isOver = true;
	await watch;
	t.is(onDisk(folder).sessions.length, 300);
	t.true(seen.size <= 3, `${seen.size} files`);
});

test('touches are coalesced, and on disk when the registry is asked to be saved', async t => {
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

test('of sessions that are over the newest 1,000 stay, older ones go to the archive, live ones always stay', async t => {
	const folder = tempFolder(t);
	const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
	const over = Array.from({length: 1005}, (_, index) =>
		sessionEntry({
			codex_id: `codex:${index}`,
			identity: `dev-${index}`,
			status: 'closed',
			last_active: at(index),
		}),
	);
	const live = sessionEntry({codex_id: 'codex:live', last_active: at(-1)});
	const registry = await openRegistry(t, folder);
	await Promise.all([...over, live].map(entry => registry.put(entry)));
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

test('persist_threads = false keeps nothing on disk, and identities apart all the same', async t => {
	const folder = join(tempFolder(t), 'none');
	const registry = await openRegistry(t, folder, {isPersistent: false});
	await registry.put(sessionEntry());
	t.is(registry.entries().length, 1);
	t.deepEqual(await registry.reserve('dev-1', 'codex:1'), {isHeld: true});
	t.like(await registry.reserve('dev-1', 'codex:2'), {isHeld: false, holder: {codexId: 'codex:1'}});
	await registry.release('dev-1');
	t.deepEqual(await registry.reserve('dev-1', 'codex:2'), {isHeld: true});
	t.is(registry.health().persist, 'off');
	await registry.close();
	t.false(existsSync(folder));
});
