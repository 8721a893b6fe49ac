import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {sessionEntry} from '../../fixtures/sessions/entry.js';
import {AuditFile} from '../../lib/serve/sessions/audit-file.js';
import {SessionSummaries} from '../../lib/serve/sessions/session-summaries.js';
import {onDisk, openRegistry, recordingLog} from '../serve/sessions/support.js';
import {smallDisk} from './tools.js';

test.serial(
	'a full disk keeps the old registry file, and the changes are saved when space is available [G2]',
	async t => {
		const {folder: disk, remount} = smallDisk(t, '128k');
		const folder = join(disk, 'red');
		const {log, entries} = recordingLog();
		const registry = await openRegistry(t, folder, {log});
		await registry.put(sessionEntry({codex_id: 'codex:first'}));
		writeFileSync(join(disk, 'ballast'), Buffer.alloc(90 * 1024));
		const before = readFileSync(join(folder, 'registry.json'), 'utf8');
		const many = Array.from({length: 150}, (_, at) =>
			sessionEntry({codex_id: `codex:${at}`, identity: `dev-${at}`}),
		);
		const results = await Promise.allSettled(many.map(entry => registry.put(entry)));
		t.true(results.every(({status}) => status === 'rejected'));
		t.is(readFileSync(join(folder, 'registry.json'), 'utf8'), before, 'the old file is unchanged');
		t.deepEqual(
			readdirSync(folder).filter(name => name.endsWith('.tmp')),
			[],
		);
		t.is(registry.health().persist, 'degraded');
		t.regex(registry.health().lastError ?? '', /ENOSPC/);
		t.is(registry.entries().length, 151);
		remount('size=16m');
		await registry.put(sessionEntry({codex_id: 'codex:last'}));
		t.is(onDisk(folder).sessions.length, 152);
		t.is(registry.health().persist, 'ok');
		t.deepEqual(
			(await entries()).map(({event}) => event),
			['registry.unsaved', 'registry.saved'],
		);
		await registry.close();
	},
);

test.serial(
	'a read-only disk still allows listing sessions and locking identities, with a warning [G2]',
	async t => {
		const {folder: disk, remount} = smallDisk(t, '1m');
		const folder = join(disk, 'red');
		const first = await openRegistry(t, folder);
		await first.put(sessionEntry({status: 'closed'}));
		await first.close();
		remount('ro');
		const registry = await openRegistry(t, folder);
		t.is(registry.entries().length, 1);
		t.is(registry.health().persist, 'degraded');
		t.deepEqual(await registry.reserve('dev-1', 'codex:a'), {isReserved: true});
		t.like(await registry.reserve('dev-1', 'codex:b'), {isReserved: false, owner: {codexId: 'codex:a'}});
		await t.throwsAsync(registry.put(sessionEntry({codex_id: 'codex:2'})), {code: 'EROFS'});
		t.is(registry.entries().length, 2);
		remount('rw');
		await registry.put(sessionEntry({codex_id: 'codex:3'}));
		t.is(onDisk(folder).sessions.length, 3);
		await registry.close();
	},
);

test.serial(
	'a full disk truncates at most one line of the audit file, and buffered lines follow [G9]',
	async t => {
		const {folder, remount} = smallDisk(t, '64k');
		const {log, entries} = recordingLog();
		const audit = await AuditFile.open({folder, log});
		const prompt = 'x'.repeat(180);
		for (let at = 0; at < 400; at++) audit.write({event: 'codex', correlationId: `${at}`, prompt});
		remount('size=1m');
		audit.write({event: 'codex', correlationId: '400', prompt});
		await audit.close();
		const lines = readFileSync(join(folder, 'audit.jsonl'), 'utf8').split('\n');
		const ids = lines.flatMap(line => {
			try {
				return [Number(JSON.parse(line).correlation_id)];
			} catch {
				return [];
			}
		});
		t.deepEqual(
			ids,
			Array.from({length: 401}, (_, at) => at),
		);
		t.true(lines.length - ids.length <= 2, `${lines.length} lines`);
		t.deepEqual(
			(await entries()).map(({event}) => event),
			['audit.unwritten', 'audit.written'],
		);
	},
);

test.serial('a full disk keeps the old summary [G2]', async t => {
	const {folder: disk} = smallDisk(t, '64k');
	const summaries = new SessionSummaries(disk);
	await summaries.write('dev-1', 'thread', 'good');
	await t.throwsAsync(summaries.write('dev-1', 'thread', 'y'.repeat(100_000)), {code: 'ENOSPC'});
	t.is(await summaries.read('dev-1', 'thread'), 'good');
	t.deepEqual(readdirSync(join(disk, 'dev-1', 'thread')), ['summary.md']);
});
