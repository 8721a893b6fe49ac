import {
	chmodSync,
	chownSync,
	lchownSync,
	mkdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {runBridge, server} from '../helpers/bridge.js';
import {tempFolder} from '../helpers/temp-folder.js';

/** A user id that is neither the current user nor root. */
const OTHER = 65_534;

test.before('requires root, to create files of another user', t => {
	t.is(process.getuid?.(), 0);
});

for (const [name, flags] of [
	[
		'--log',
		(folder: string) => ['--log', `@${folder}`, '--filename-format', 'log', '--', ...server('puppet')],
	],
	['raw', (folder: string) => ['raw', '0:127.0.0.1:9', `@${folder}`, '--filename-format', 'log']],
] as const) {
	test(`${name} writes nothing to a log file that another user created [SEC-D14]`, async t => {
		const folder = join(tempFolder(t), 'logs');
		mkdirSync(folder);
		const file = join(folder, 'log');
		writeFileSync(file, '');
		chmodSync(file, 0o666);
		chownSync(file, OTHER, OTHER);
		const {code, stderr} = await runBridge(flags(folder));
		t.is(code, 2, stderr);
		t.regex(
			stderr,
			/log belongs to another user \(uid 65534\)\. Remove it, or name a file in a folder that you own\./,
		);
		t.is(readFileSync(file, 'utf8'), '');
		t.is(statSync(file).mode & 0o777, 0o666);
	});

	test(`${name} rejects a folder that another user created with mode 0777 [SEC-D14]`, async t => {
		const folder = join(tempFolder(t), 'logs');
		mkdirSync(folder);
		chownSync(folder, OTHER, OTHER);
		chmodSync(folder, 0o777);
		const {code, stderr} = await runBridge(flags(folder));
		t.is(code, 2, stderr);
		t.regex(stderr, /all users can replace files in .*logs \(mode 777\)/);
	});

	test(`${name} rejects a folder that is a link of another user [SEC-D14]`, async t => {
		const folder = tempFolder(t);
		const link = join(folder, 'link');
		mkdirSync(join(folder, 'logs'));
		symlinkSync('logs', link);
		lchownSync(link, OTHER, OTHER);
		const {code, stderr} = await runBridge(flags(link));
		t.is(code, 2, stderr);
		t.regex(stderr, /link belongs to another user \(uid 65534\)/);
	});
}

test('rejects a found configuration of another user, and warns of a named one [SEC-D22]', async t => {
	const cwd = tempFolder(t);
	const file = join(cwd, 'bridge.yaml');
	writeFileSync(file, 'servers: {}\npacks: packs');
	chownSync(file, OTHER, OTHER);
	const env = {...process.env, HOME: tempFolder(t)};
	for (const command of ['trust', 'hub']) {
		const {code, stderr} = await runBridge([command], '', {cwd, env});
		t.is(code, 2, stderr);
		t.regex(stderr, /bridge\.yaml is not (used: it belongs to another user \(uid 65534\))/);
	}
	const {code, stderr} = await runBridge(['hub', '--config', file], '', {cwd, env});
	t.is(code, 0, stderr);
	t.regex(
		stderr,
		/bridge\.yaml: it belongs to another user \(uid 65534\), so other users can run programs as you/,
	);
});
