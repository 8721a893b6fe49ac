import {once} from 'node:events';
import {
	existsSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {sessionEntry} from '../../../fixtures/sessions/entry.js';
import {BridgeError} from '../../../lib/core/errors.js';
import {SessionRegistry} from '../../../lib/serve/sessions/session-registry.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {onDisk, openRegistry, recordingLog, startSaver} from './support.js';

for (const [defect, text] of [
	['is empty', ''],
	['is cut off', '{"version":1,"sessions":[{"codex_id":"codex:1"'],
	['is not an object', '[]'],
	['has no version', '{"sessions":[]}'],
	['has no list', '{"version":1,"sessions":{}}'],
	['is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
] as const)
	test(`moves a registry that ${defect} aside, logs it and starts a new one [G3]`, async t => {
		const folder = tempFolder(t);
		writeFileSync(join(folder, 'registry.json'), text);
		const {log, entries} = recordingLog();
		const registry = await openRegistry(t, folder, {log});
		t.deepEqual(registry.entries(), []);
		const {corruptFile = ''} = registry.health();
		t.deepEqual(readFileSync(corruptFile), Buffer.from(text));
		t.regex(corruptFile, /registry\.json\.corrupt-/);
		const [entry] = (await entries()).filter(({event}) => event === 'registry.corrupt');
		t.true(entry?.msg.includes(corruptFile));
		await registry.put(sessionEntry());
		t.is(onDisk(folder).sessions.length, 1);
		t.true(existsSync(corruptFile));
	});

test('rejects a registry of a newer version without changing it [G3]', async t => {
	const folder = tempFolder(t);
	const text = '{"version":2,"sessions":{"a":1}}';
	writeFileSync(join(folder, 'registry.json'), text);
	const error = await t.throwsAsync(SessionRegistry.open({folder, team: 'red', log: recordingLog().log}), {
		instanceOf: BridgeError,
	});
	t.regex(
		error?.message ?? '',
		/registry\.json was written by a newer version of bridge: it is of version 2/,
	);
	t.is(readFileSync(join(folder, 'registry.json'), 'utf8'), text);
});

test('does not overwrite a registry that a newer version has written while it is in use [G3]', async t => {
	const folder = tempFolder(t);
	const registry = await openRegistry(t, folder);
	await registry.put(sessionEntry());
	const text = '{"version":7}';
	writeFileSync(join(folder, 'registry.json'), text);
	await t.throwsAsync(registry.put(sessionEntry({turns: 9})), {message: /newer version of bridge/});
	t.is(registry.health().persist, 'degraded');
	t.is(readFileSync(join(folder, 'registry.json'), 'utf8'), text);
	unlinkSync(join(folder, 'registry.json'));
	await registry.put(sessionEntry({turns: 10}));
	t.is(registry.health().persist, 'ok');
	t.like(onDisk(folder).sessions[0], {turns: 10});
});

test('four processes that save concurrently lose no session [5.3] [G5]', async t => {
	const folder = tempFolder(t);
	const savers = ['a', 'b', 'c', 'd'].map(name => startSaver(t, folder, name, '15'));
	await Promise.all(savers.map(({child}) => once(child, 'exit')));
	const ids = onDisk(folder).sessions.map(({codex_id}) => codex_id);
	t.is(new Set(ids).size, 60);
	t.deepEqual(readdirSync(join(folder, '.lock')), []);
});

test('removes temporary files of exited processes at startup and keeps those of live ones [G4]', async t => {
	const folder = tempFolder(t);
	await (await openRegistry(t, folder)).put(sessionEntry());
	const {ownProcessIdentity: ownMark} = await import('../../../lib/files/process-identity.js');
	const dead = `.registry.json.${ownMark().replace(/-\d+-\d+$/, '-4194304-5')}.0.tmp`;
	const live = `.registry.json.${ownMark()}.99999.tmp`;
	for (const name of [dead, live, '.hidden']) writeFileSync(join(folder, name), 'x');
	await openRegistry(t, folder);
	t.false(existsSync(join(folder, dead)));
	t.true(existsSync(join(folder, live)));
	t.true(existsSync(join(folder, '.hidden')));
});

test('neither reads nor writes through a symbolic link in place of the registry [G7]', async t => {
	const [folder, elsewhere] = [tempFolder(t), tempFolder(t)];
	const target = join(elsewhere, 'precious.json');
	writeFileSync(target, '{"version":1,"sessions":[]}');
	symlinkSync(target, join(folder, 'registry.json'));
	const registry = await openRegistry(t, folder);
	await registry.put(sessionEntry());
	t.is(readFileSync(target, 'utf8'), '{"version":1,"sessions":[]}');
	t.true(statSync(join(folder, 'registry.json')).isFile());
	t.is(onDisk(folder).sessions.length, 1);
});

test('logs a folder that cannot be created and works in memory [G2]', async t => {
	const file = join(tempFolder(t), 'red');
	writeFileSync(file, 'not a folder');
	const {log, entries} = recordingLog();
	const registry = await openRegistry(t, file, {log});
	await t.throwsAsync(registry.put(sessionEntry()));
	t.is(registry.entries().length, 1);
	t.is(registry.health().persist, 'degraded');
	t.deepEqual(await registry.reserve('dev-1', 'codex:1'), {isReserved: true});
	t.deepEqual(
		(await entries()).map(({event}) => event),
		['registry.unsaved'],
	);
	t.is(readFileSync(file, 'utf8'), 'not a folder');
});
