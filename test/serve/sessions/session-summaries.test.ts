import {execFileSync} from 'node:child_process';
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {BridgeError} from '../../../lib/core/errors.js';
import {SessionSummaries} from '../../../lib/serve/sessions/session-summaries.js';
import {tempFolder} from '../../helpers/temp-folder.js';

const THREAD = '0199a213-81c0-7800-8aa1-bbab2a035a53';

test('stores a summary in <identity>/<thread-id>/summary.md and reads it [FR-6.4]', async t => {
	const folder = tempFolder(t);
	const summaries = new SessionSummaries(folder);
	t.is(await summaries.read('dev-1', THREAD), undefined);
	await summaries.write('dev-1', THREAD, '# Done\nall of it\n');
	const path = join(folder, 'dev-1', THREAD, 'summary.md');
	t.is(summaries.path('dev-1', THREAD), path);
	t.is(readFileSync(path, 'utf8'), '# Done\nall of it\n');
	t.is(statSync(path).mode & 0o777, 0o600);
	t.is(await summaries.read('dev-1', THREAD), '# Done\nall of it\n');
	t.true(await summaries.remove('dev-1', THREAD));
	t.deepEqual(readdirSync(folder), []);
	t.false(await summaries.remove('dev-1', THREAD));
});

test('does not replace a summary by a blank one [FR-7.2]', async t => {
	const summaries = new SessionSummaries(tempFolder(t));
	await summaries.write('dev-1', THREAD, 'good');
	await summaries.write('dev-1', THREAD, ' \n');
	t.is(await summaries.read('dev-1', THREAD), 'good');
});

for (const part of [
	'..',
	'.',
	'',
	'a/b',
	'a\\b',
	'a\0b',
	'/etc',
	'x'.repeat(300),
	'CON',
	'nul.txt',
	'‮a',
	'ä',
	'.hidden',
	'a..b',
])
	test(`rejects ${JSON.stringify(part).slice(0, 20)} as an identity and as a thread id [H1]`, async t => {
		const folder = tempFolder(t);
		const summaries = new SessionSummaries(folder);
		for (const [identity, thread] of [
			[part, THREAD],
			['dev-1', part],
		] as const) {
			await t.throwsAsync(summaries.write(identity, thread, 'x'), {instanceOf: BridgeError});
			await t.throwsAsync(summaries.read(identity, thread), {instanceOf: BridgeError});
			await t.throwsAsync(summaries.remove(identity, thread), {instanceOf: BridgeError});
		}
		t.deepEqual(readdirSync(folder), []);
	});

test('rejects symbolic links, pipes and oversized files, and changes nothing outside the folder [H16]', async t => {
	const [folder, outside] = [tempFolder(t), tempFolder(t)];
	const summaries = new SessionSummaries(folder);
	symlinkSync(outside, join(folder, 'dev-1'));
	mkdirSync(join(outside, THREAD));
	writeFileSync(join(outside, THREAD, 'summary.md'), 'precious');
	await t.throwsAsync(summaries.read('dev-1', THREAD), {
		message: /a symbolic link points outside the folder/,
	});
	await t.throwsAsync(summaries.write('dev-1', THREAD, 'x'), {
		message: /a symbolic link points outside the folder/,
	});
	t.false(await summaries.remove('dev-1', THREAD));
	t.is(readFileSync(join(outside, THREAD, 'summary.md'), 'utf8'), 'precious');
	const pathFor = (identity: string): string => {
		mkdirSync(join(folder, identity, THREAD), {recursive: true});
		return join(folder, identity, THREAD, 'summary.md');
	};
	symlinkSync(join(outside, THREAD, 'summary.md'), pathFor('link'));
	await t.throwsAsync(summaries.read('link', THREAD), {message: /it is a link/});
	await summaries.write('link', THREAD, 'own');
	t.is(await summaries.read('link', THREAD), 'own');
	execFileSync('mkfifo', [pathFor('pipe')]);
	await t.throwsAsync(summaries.read('pipe', THREAD), {message: /it is not a regular file/});
	writeFileSync(pathFor('huge'), Buffer.alloc(2 ** 20 + 1));
	await t.throwsAsync(summaries.read('huge', THREAD), {message: /longer than/});
	writeFileSync(pathFor('binary'), Buffer.from([0x61, 0xff, 0x62]));
	t.is(await summaries.read('binary', THREAD), 'a\ufffdb');
	t.true(existsSync(join(outside, THREAD, 'summary.md')));
});
