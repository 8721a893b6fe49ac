import {
	appendFileSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {AuditFile, type AuditFileOptions} from '../../../lib/serve/sessions/audit-file.js';
import {formatAuditLine} from '../../../lib/serve/sessions/audit-line.js';
import {firstCodePoints} from '../../../lib/util/code-points.js';
import {readNdjson} from '../../helpers/ndjson.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {recordingLog} from './support.js';

const open = async (
	t: ExecutionContext,
	folder: string,
	options: Partial<AuditFileOptions> = {},
): Promise<AuditFile> => {
	const audit = await AuditFile.open({folder, log: recordingLog().log, ...options});
	t.teardown(() => audit.close());
	return audit;
};

const linesOf = (file: string): Array<{[key: string]: unknown}> => readNdjson(file);

test('writes each entry as a line of audit.jsonl before write returns [FR-9.1] [FR-9.2] [FR-9.3] [K8]', async t => {
	const folder = join(tempFolder(t), 'a', 'codex-sessions');
	const now = (): Date => new Date('2026-11-17T09:00:00.123Z');
	const audit = await open(t, folder, {now});
	audit.write({
		event: 'codex',
		correlationId: 'c1',
		codexId: 'codex:1',
		identity: 'dev-1',
		team: 'red',
		prompt: 'do it',
	});
	audit.write({
		event: 'atm_send',
		correlationId: 'c2',
		identity: 'dev-1',
		recipient: 'lead@red',
		message: 'done',
		outcome: 'completed',
		details: {bytes: 4},
	});
	const file = join(folder, 'audit.jsonl');
	t.deepEqual(linesOf(file), [
		{
			timestamp: '2026-11-17T09:00:00.123Z',
			event_type: 'codex',
			correlation_id: 'c1',
			codex_id: 'codex:1',
			identity: 'dev-1',
			team: 'red',
			prompt_summary: 'do it',
		},
		{
			timestamp: '2026-11-17T09:00:00.123Z',
			event_type: 'atm_send',
			correlation_id: 'c2',
			identity: 'dev-1',
			recipient: 'lead@red',
			outcome: 'completed',
			message_summary: 'done',
			details: {bytes: 4},
		},
	]);
	t.is(statSync(file).mode & 0o777, 0o600);
	t.is(statSync(folder).mode & 0o777, 0o700);
});

test('truncates summaries to 200 code points without splitting a character [FR-9.2]', t => {
	const line = JSON.parse(
		formatAuditLine({event: 'codex', correlationId: '', prompt: '😀'.repeat(300)}, new Date()),
	);
	t.is(line.prompt_summary, '😀'.repeat(200));
	fc.assert(
		fc.property(fc.string({unit: 'grapheme', maxLength: 50}), fc.nat(40), (text, count) => {
			t.is(firstCodePoints(text, count), [...text].slice(0, count).join(''));
		}),
	);
});

test('redacts secrets, including those that are truncated [NFR-3] [K4]', t => {
	const secrets = ['hunter2hunter2', 'sk-proj-abcdefghijklmnop0123', 'ghp_abcdefghijklmnopqrstuv01'];
	const prompt = `${'x'.repeat(150)} password=${secrets[0]} then ${secrets[1]} and Authorization: Bearer abcdefgh`;
	const text = formatAuditLine(
		{
			event: 'codex',
			correlationId: 'c',
			prompt,
			message: `use ${secrets[2]}`,
			details: {token: 'hunter2', reason: `api_key: ${secrets[0]}`},
		},
		new Date(),
	);
	for (const secret of ['hunter2', 'sk-proj', 'ghp_', 'abcdefgh'])
		t.false(text.includes(secret), `${secret} in ${text}`);
});

test('escapes line breaks in texts, so that an entry is one line [K5]', t => {
	const text = formatAuditLine(
		{event: 'codex', correlationId: 'a\nb', prompt: 'x\r\n\u001b[2J{"event_type":"forged"}\u2028'},
		new Date(),
	);
	t.is(text.indexOf('\n'), text.length - 1);
	t.is(JSON.parse(text).event_type, 'codex');
});

test('starts a new line after a torn last line [G8]', async t => {
	const folder = tempFolder(t);
	const file = join(folder, 'audit.jsonl');
	writeFileSync(file, '{"event_type":"whole"}\n{"event_type":"to');
	(await open(t, folder)).write({event: 'next', correlationId: ''});
	const lines = readFileSync(file, 'utf8').split('\n');
	t.is(lines[1], '{"event_type":"to');
	t.is(JSON.parse(lines[2] ?? '').event_type, 'next');
	t.is(lines.length, 4);
});

test('rotates a full file, keeps ten old files and loses no line of two writers [G9]', async t => {
	const folder = tempFolder(t);
	let at = Date.UTC(2026, 0, 1);
	const now = (): Date => new Date(at++);
	const [one, other] = [
		await open(t, folder, {maxBytes: 1000, now}),
		await open(t, folder, {maxBytes: 1000, now}),
	];
	for (let number = 0; number < 60; number++)
		(number % 2 ? one : other).write({event: 'codex', correlationId: `${number}`});
	const names = readdirSync(folder).sort();
	const ids = names.flatMap(name =>
		linesOf(join(folder, name)).map(({correlation_id}) => Number(correlation_id)),
	);
	t.deepEqual(
		ids.sort((a, b) => a - b),
		Array.from({length: 60}, (_, index) => index),
	);
	for (const name of names) t.true(statSync(join(folder, name)).size <= 1000, name);
	for (let number = 60; number < 400; number++) one.write({event: 'codex', correlationId: `${number}`});
	t.is(readdirSync(folder).length, 11);
});

test('recreates a file that was moved away [G10]', async t => {
	const folder = tempFolder(t);
	const audit = await open(t, folder);
	audit.write({event: 'one', correlationId: ''});
	renameSync(join(folder, 'audit.jsonl'), join(folder, 'moved'));
	audit.write({event: 'two', correlationId: ''});
	t.is(linesOf(join(folder, 'audit.jsonl'))[0]?.event_type, 'two');
});

test('logs a write failure once, throws nothing and writes the buffered lines later [G9]', async t => {
	const folder = tempFolder(t);
	const file = join(folder, 'audit.jsonl');
	mkdirSync(file);
	const {log, entries} = recordingLog();
	const audit = await open(t, folder, {log});
	audit.write({event: 'one', correlationId: ''});
	audit.write({event: 'two', correlationId: ''});
	renameSync(file, join(folder, 'away'));
	audit.write({event: 'three', correlationId: ''});
	t.deepEqual(
		linesOf(file).map(({event_type}) => event_type),
		['one', 'two', 'three'],
	);
	t.deepEqual(
		(await entries()).map(({event}) => event),
		['audit.unwritten', 'audit.written'],
	);
});

test('records the number of dropped lines in the file and in the log [G9]', async t => {
	const folder = tempFolder(t);
	const file = join(folder, 'audit.jsonl');
	mkdirSync(file);
	const audit = await open(t, folder);
	for (let number = 0; number < 1010; number++) audit.write({event: 'codex', correlationId: `${number}`});
	renameSync(file, join(folder, 'away'));
	audit.write({event: 'codex', correlationId: 'last'});
	const lines = linesOf(file);
	t.like(lines[0], {event_type: 'gap', details: {lines: 10}});
	t.is(lines.length, 1002);
	mkdirSync(join(folder, 'b', 'audit.jsonl'), {recursive: true});
	const {log, entries} = recordingLog();
	const failing = await open(t, join(folder, 'b'), {log});
	failing.write({event: 'codex', correlationId: ''});
	await failing.close();
	t.true((await entries()).some(({event, msg}) => event === 'audit.lost' && msg.startsWith('1 lines')));
});

test('does not follow a symbolic link in place of the audit file [G7]', async t => {
	const [folder, elsewhere] = [tempFolder(t), tempFolder(t)];
	writeFileSync(join(elsewhere, 'precious'), 'x');
	symlinkSync(join(elsewhere, 'precious'), join(folder, 'audit.jsonl'));
	const {log, entries} = recordingLog();
	(await open(t, folder, {log})).write({event: 'codex', correlationId: ''});
	t.is(readFileSync(join(elsewhere, 'precious'), 'utf8'), 'x');
	const [entry] = await entries();
	t.is(entry?.event, 'audit.unwritten');
});

test('appends after lines of other processes with audit_fsync = always', async t => {
	const folder = tempFolder(t);
	const audit = await open(t, folder, {fsync: 'always'});
	audit.write({event: 'one', correlationId: ''});
	appendFileSync(join(folder, 'audit.jsonl'), '{"event_type":"foreign"}\n');
	audit.write({event: 'two', correlationId: ''});
	t.deepEqual(
		linesOf(join(folder, 'audit.jsonl')).map(({event_type}) => event_type),
		['one', 'foreign', 'two'],
	);
});
