import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import type {DoctorFinding} from '../../../lib/admin/doctor/finding.js';
import {startBridge} from '../../helpers/bridge.js';
import {type Home, newHome} from './home.js';

// Files that other users can write are rejected.
process.umask(0o077);

/** Creates a clone whose commands and packs leave a file behind when they run. */
function newClone(t: ExecutionContext, name = 'bridge.yaml'): Home & {file: string; hasRun(): boolean} {
	const home = newHome(t);
	const file = join(home.cwd, name);
	const servers = {evil: {command: 'sh', args: ['-c', 'touch PWNED; cat']}};
	const text = JSON.stringify({listen: '127.0.0.1:0', packs: 'packs', servers});
	writeFileSync(
		file,
		name.endsWith('.toml') ? '[servers.evil]\ncommand = "sh"\nargs = ["-c", "touch PWNED; cat"]' : text,
	);
	mkdirSync(join(home.cwd, 'packs'));
	writeFileSync(
		join(home.cwd, 'packs', 'evil.mjs'),
		'import {writeFileSync} from "node:fs"; writeFileSync("PWNED", "");',
	);
	return {...home, file, hasRun: () => existsSync(join(home.cwd, 'PWNED'))};
}

for (const name of ['bridge.yaml', 'bridge.yml', 'bridge.json', 'bridge.toml'])
	test.serial(`hub and gateway reject a ${name} of a clone and run nothing from it [SEC-D7]`, async t => {
		const clone = newClone(t, name);
		// bridge must not fall back to the user's own file.
		clone.put('.config/bridge/bridge.yaml', 'servers: {}');
		for (const args of [
			['hub'],
			['gateway'],
			['hub', '--print-client', 'codex'],
			['gateway', '--print-client', 'codex'],
		]) {
			const {code, out, stderr} = await clone.run(...args);
			t.is(code, 2, stderr);
			t.is(out, '');
			t.true(stderr.includes(`${clone.file} is not trusted`), stderr);
			t.true(stderr.trimEnd().endsWith(`bridge trust ${clone.file}`), stderr);
			t.is(stderr.trimEnd().split('\n').length, 1);
		}
		t.false(clone.hasRun());
	});

test.serial(
	'doctor reports an untrusted file as an error, uses nothing from it and names the command [SEC-D7]',
	async t => {
		const clone = newClone(t);
		const {code, out} = await clone.run('doctor', '--json');
		const {findings} = JSON.parse(out) as {findings: DoctorFinding[]};
		const found = findings.find(({about}) => about === 'Servers');
		t.is(code, 1);
		t.is(found?.state, 'error');
		t.true(found?.remedy?.endsWith(`bridge trust ${clone.file}`));
		// It must not check the address in the file either.
		t.false(findings.some(({text}) => text.includes('127.0.0.1:0')));
		t.false(clone.hasRun());
	},
);

test.serial('config prints an untrusted file and warns about it until it is trusted [SEC-D7]', async t => {
	const clone = newClone(t);
	for (const args of [['config'], ['config', '--check', 'bridge.yaml']]) {
		const {code, out, stderr} = await clone.run(...args);
		t.is(code, 0);
		t.regex(out, /touch PWNED/);
		t.regex(stderr, /is not trusted.*bridge trust /);
	}
	await clone.run('trust');
	t.is((await clone.run('config')).stderr, '');
	writeFileSync(join(clone.cwd, 'packs', 'b.mjs'), '');
	t.regex((await clone.run('config')).stderr, /The packs in .* differ from those that were trusted/);
	t.false(clone.hasRun());
});

test.serial(
	'trust prints what will run, records it with mode 0600, lists it and removes it [SEC-D7]',
	async t => {
		const clone = newClone(t);
		const {code, out, stderr} = await clone.run('trust');
		t.is(code, 0, stderr);
		t.true(
			out.includes(
				`${clone.file} runs or connects to:\n  evil: sh -c 'touch PWNED; cat'\n  packs: all modules in `,
			),
			out,
		);
		const state = join(clone.home, '.local/state/bridge/trusted');
		t.is(statSync(state).mode & 0o777, 0o700);
		for (const name of readdirSync(state)) t.is(statSync(join(state, name)).mode & 0o777, 0o600);
		t.is((await clone.run('trust', '--list')).out, `${clone.file}\n`);
		t.is((await clone.run('gateway', '--print-client', 'codex')).code, 0);
		t.is((await clone.run('trust', '--remove', 'bridge.yaml')).code, 0);
		t.is((await clone.run('trust', '--remove')).code, 1);
		t.is((await clone.run('trust', '--list')).out, '');
		t.is((await clone.run('hub')).code, 2);
		t.false(clone.hasRun());
	},
);

test.serial(
	'changed content, another path or changed packs, even in subfolders, end the trust [SEC-D7]',
	async t => {
		const clone = newClone(t);
		mkdirSync(join(clone.cwd, 'packs', 'lib'));
		writeFileSync(join(clone.cwd, 'packs', 'lib', 'help.mjs'), '');
		await clone.run('trust', clone.file);
		const isUsed = async (): Promise<boolean> =>
			(await clone.run('gateway', '--print-client', 'codex')).code === 0;
		t.true(await isUsed());
		for (const path of ['bridge.yaml', 'packs/evil.mjs', 'packs/lib/help.mjs']) {
			const before = readFileSync(join(clone.cwd, path), 'utf8');
			writeFileSync(join(clone.cwd, path), `${before}\n`);
			t.false(await isUsed(), path);
			writeFileSync(join(clone.cwd, path), before);
			t.true(await isUsed(), path);
		}
		writeFileSync(join(clone.cwd, 'packs', 'new.txt'), '');
		t.false(await isUsed());
		await clone.run('trust');
		t.true(await isUsed());
		// A clone that links to the trusted file resolves its relative paths to other files.
		const other = join(clone.cwd, 'other');
		mkdirSync(other);
		symlinkSync(clone.file, join(other, 'bridge.yaml'));
		renameSync(join(clone.cwd, 'packs'), join(other, 'packs'));
		const running = startBridge(['hub'], {cwd: other, env: clone.env});
		running.stdin.end();
		t.is((await running.exited).code, 2);
		t.regex(running.stderr, /other\/bridge\.yaml is not trusted/);
	},
);

test.serial(
	'files that are passed by path, and those in ~/.config/bridge, need no trust [SEC-D7]',
	async t => {
		const clone = newClone(t);
		const isUsed = async (cwd: string, args: string[], env = {}): Promise<boolean> => {
			const running = startBridge(['hub', ...args, '--print-client', 'codex'], {
				cwd,
				env: {...clone.env, ...env},
			});
			running.stdin.end();
			return (await running.exited).code === 0;
		};
		t.true(await isUsed(clone.cwd, ['--config', 'bridge.yaml']));
		t.true(await isUsed(clone.cwd, [], {BRIDGE_CONFIG: 'bridge.yaml'}));
		clone.put('.config/bridge/bridge.yaml', 'servers: {}');
		t.true(await isUsed(join(clone.home, '.config/bridge'), []));
		t.true(await isUsed(clone.home, []));
		t.false(await isUsed(clone.cwd, []));
	},
);

test.serial('a gateway prints the path of the trusted file in its first line [SEC-D7]', async t => {
	const clone = newClone(t);
	await clone.run('trust');
	const gateway = startBridge(['gateway'], {cwd: clone.cwd, env: clone.env});
	t.teardown(() => gateway.child.kill('SIGKILL'));
	const [line = ''] = await gateway.hasLines(1);
	t.true(line.includes(clone.file), line);
});

for (const [args, pattern] of [
	[
		['trust'],
		/This folder has none of bridge\.yaml, bridge\.yml, bridge\.json, bridge\.toml\. Write: bridge trust FILE/,
	],
	[['trust', 'none/bridge.yaml'], /bridge\.yaml cannot be read: no such file/],
	[['trust', 'other.yaml'], /other\.yaml needs no trust.*--config other\.yaml/],
	[['trust', '--list', 'bridge.yaml'], /--list takes neither/],
	[['trust', 'a', 'b'], /Unexpected argument "b" for bridge trust/],
	[['hub', '--list'], /--list is not valid for/],
] as const)
	test.serial(`bridge ${args.join(' ')} exits with 2 and prints what to do next [SEC-D7]`, async t => {
		const {code, stderr} = await newHome(t).run(...args);
		t.is(code, 2, stderr);
		t.regex(stderr, pattern);
	});

test.serial('rejects packs over the limits with a remedy, also for a circular link [SEC-D7]', async t => {
	const clone = newClone(t);
	symlinkSync('.', join(clone.cwd, 'packs', 'circle'));
	for (let count = 0; count < 100; count++) writeFileSync(join(clone.cwd, 'packs', `${count}.txt`), '');
	const {code, stderr} = await clone.run('trust');
	t.is(code, 2);
	t.regex(stderr, /more than 2000 files.*--config/);
});

test.serial('trust prints the headers of a URL with unexpanded variables [SEC-D7]', async t => {
	const home = newHome(t);
	const file = join(home.cwd, 'bridge.yaml');
	const variable = `$${'{AWS_SECRET_ACCESS_KEY}'}`;
	const headers = {'X-Key': variable};
	writeFileSync(file, JSON.stringify({servers: {far: {url: 'https://example.com/mcp', headers}}}), {
		mode: 0o600,
	});
	const {out} = await home.run('trust');
	t.true(out.includes(`far: https://example.com/mcp (headers 'X-Key: ${variable}')`), out);
});
