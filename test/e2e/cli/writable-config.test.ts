import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import type {DoctorFinding} from '../../../lib/admin/doctor/finding.js';
import {describeForeignWriters} from '../../../lib/files/secure-file.js';
import {startBridge} from '../../helpers/bridge.js';
import {logged} from '../hub/support.js';
import {type Home, newHome} from './home.js';

process.umask(0o077);

/** Creates a configuration with a pack in the working directory. */
function newConfig(t: ExecutionContext): Home & {file: string; packs: string; pack: string} {
	const home = newHome(t);
	const [file, packs] = [join(home.cwd, 'bridge.yaml'), join(home.cwd, 'packs')];
	writeFileSync(file, 'packs: packs');
	mkdirSync(packs);
	writeFileSync(join(packs, 'a.mjs'), '');
	return {...home, file, packs, pack: join(packs, 'a.mjs')};
}

for (const part of ['file', 'packs', 'pack'] as const)
	test.serial(
		`rejects a discovered configuration if other users can write its ${part} [SEC-D22]`,
		async t => {
			const config = newConfig(t);
			t.is((await config.run('trust')).code, 0);
			chmodSync(config[part], 0o722);
			for (const args of [['hub'], ['gateway'], ['trust']]) {
				const {code, stderr} = await config.run(...args);
				t.is(code, 2, stderr);
				t.true(stderr.includes(`${config[part]} is not used: all users can write to it (mode 722)`), stderr);
				t.true(stderr.trimEnd().endsWith(`chmod go-w ${config[part]}`), stderr);
			}
			const shown = await config.run('config');
			t.is(shown.code, 0, shown.stderr);
			t.true(shown.stderr.includes(`${config[part]} is not used`), shown.stderr);
			const {out} = await config.run('doctor', '--json');
			const {findings} = JSON.parse(out) as {findings: DoctorFinding[]};
			t.is(findings.find(({about}) => about === 'Servers')?.state, 'error');
			chmodSync(config[part], 0o700);
			t.is((await config.run('hub')).code, 0);
		},
	);

for (const part of ['file', 'packs', 'pack'] as const)
	test.serial(
		`hub and doctor warn about a named configuration if other users can write its ${part} [SEC-D22]`,
		async t => {
			const config = newConfig(t);
			const args = ['--config', config.file];
			const warnings = async (): Promise<string[]> => {
				const hub = startBridge(['hub', ...args], {cwd: config.cwd, env: config.env});
				hub.stdin.end();
				t.is((await hub.exited).code, 0, hub.stderr);
				return logged(hub, 'config.warning').map(({msg}) => String(msg));
			};
			t.deepEqual(await warnings(), []);
			chmodSync(config[part], 0o722);
			const text = `${config[part]}: all users can write to it (mode 722), so other users can run programs as you. Make sure that you own it, and run: chmod go-w ${config[part]}`;
			t.deepEqual(await warnings(), [text]);
			const {out} = await config.run('doctor', '--json', ...args);
			const {findings} = JSON.parse(out) as {findings: DoctorFinding[]};
			t.true(
				findings.some(({state, text: found}) => state === 'warning' && found === text),
				out,
			);
		},
	);

test.serial(
	'warns about a configuration in a folder in which all users can replace files [SEC-D22]',
	async t => {
		const config = newConfig(t);
		chmodSync(config.cwd, 0o777);
		const {out} = await config.run('doctor', '--config', config.file);
		t.regex(out, /work: all users can replace files in it/);
		chmodSync(config.cwd, 0o1777);
		t.notRegex((await config.run('doctor', '--config', config.file)).out, /can replace files/);
	},
);

test.serial('warns only about writers other than the user, its private group and root [SEC-D22]', t => {
	const own = process.getuid?.() ?? 0;
	for (const [uid, gid, mode, reason] of [
		[own, own, 0o644, undefined],
		[own, own, 0o664, undefined],
		[0, 0, 0o644, undefined],
		[own, own + 1, 0o664, `its group can write to it (mode 664, gid ${own + 1})`],
		[own, own, 0o646, 'all users can write to it (mode 646)'],
		[own + 1, own, 0o600, `it belongs to another user (uid ${own + 1})`],
	] as const)
		t.is(describeForeignWriters({uid, gid, mode}), reason);
});
