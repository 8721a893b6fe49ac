import {chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {codexEnvironment} from '../../../lib/serve/codex/codex-backend.js';
import {probeCodex} from '../../../lib/serve/codex/probe-codex.js';
import {resolveProgram} from '../../../lib/serve/codex/resolve-program.js';
import {CodexClient} from '../../helpers/codex-client.js';
import {fakeCodex} from '../../helpers/fake-codex.js';

async function folderOf(t: ExecutionContext): Promise<string> {
	const folder = await realpath(await mkdtemp(join(tmpdir(), 'bridge-codex-')));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	return folder;
}

async function program(t: ExecutionContext, script: string): Promise<string> {
	const file = join(await folderOf(t), 'codex');
	await writeFile(file, `#!${process.execPath}\n${script}`);
	await chmod(file, 0o755);
	return file;
}

for (const kind of ['app-server', 'mcp-server'] as const)
	test(`detects ${kind}`, async t => {
		const {command} = await fakeCodex(t, kind);
		t.deepEqual(await probeCodex({command}), {program: command, kind});
	});

test('probes a program once, and again after it has changed', async t => {
	const folder = await folderOf(t);
	const countFile = join(folder, 'count');
	const script = (code: number): string =>
		`require('fs').appendFileSync(${JSON.stringify(countFile)}, 'x'); console.error('mcp-server'); process.exit(${code});`;
	const command = await program(t, script(2));
	await probeCodex({command});
	await probeCodex({command});
	t.is(await readFile(countFile, 'utf8'), 'x');
	await writeFile(command, `#!${process.execPath}\n${script(0)} // another`);
	t.is((await probeCodex({command})).kind, 'mcp-server');
});

test('explains how to install Codex if the command does not exist [E2]', async t => {
	const error = await t.throwsAsync(probeCodex({command: 'no-such-codex'}));
	t.like(error, {code: 'ERR_COMMAND_UNUSABLE'});
	t.regex(
		String((error as {sentence?: string}).sentence),
		/no-such-codex.*npm install -g @openai\/codex.*codex_bin/,
	);
});

test('reports the output of a program that is not Codex or is broken [E2]', async t => {
	for (const script of ['process.exit(0)', "console.error('Segmentation fault'); process.exit(139)"]) {
		const command = await program(t, script);
		const error = await t.throwsAsync(probeCodex({command}));
		t.like(error, {code: 'ERR_COMMAND_UNUSABLE'});
		t.regex(
			String(error?.message),
			/^bridge cannot use .* as Codex: .*\. Output: (?:none|Segmentation fault)/,
		);
	}
});

test('stops a program that does not exit within the time limit [E2]', async t => {
	const command = await program(t, 'setInterval(() => {}, 1000)');
	const error = await t.throwsAsync(probeCodex({command, timeoutMs: 200}));
	t.regex(String(error?.message), /did not exit within 0.2 s/);
});

test('returns a failed endpoint if Codex cannot be started', async t => {
	const client = await CodexClient.start(t, {command: 'no-such-codex'});
	t.is(client.backend.kind, undefined);
	t.like(client.failure, {code: 'ERR_COMMAND_UNUSABLE'});
	await t.throwsAsync(client.backend.exited);
	await client.backend.finish();
});

test("finds the native program of npm's launcher script, and falls back to the script", async t => {
	const folder = await folderOf(t);
	const triples: {[arch: string]: string} = {x64: 'x86_64', arm64: 'aarch64'};
	const system = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-musl';
	const pack = join(folder, 'node_modules/@openai');
	const launcher = join(pack, 'codex/bin/codex.js');
	await mkdir(join(pack, 'codex/bin'), {recursive: true});
	await writeFile(launcher, '');
	await chmod(launcher, 0o755);
	await mkdir(join(folder, 'bin'));
	await symlink(launcher, join(folder, 'bin/codex'));
	const path = `${join(folder, 'empty')}:${join(folder, 'bin')}`;
	t.is(await resolveProgram('codex', folder, path), join(folder, 'bin/codex'));
	const native = join(pack, `codex-${process.platform}-${process.arch}`);
	const file = join(native, `vendor/${triples[process.arch]}-${system}/bin/codex`);
	await mkdir(join(file, '..'), {recursive: true});
	await writeFile(join(native, 'package.json'), '{}');
	await writeFile(file, '');
	await chmod(file, 0o755);
	t.is(await resolveProgram('codex', folder, path), file);
	t.is(await resolveProgram('./bin/codex', folder, ''), file);
	t.is(await resolveProgram('codex', folder, join(folder, 'empty')), undefined);
});

test('passes only the variables of Codex to it, without other secrets [E10]', t => {
	const seen = codexEnvironment({
		CODEX_HOME: '/c',
		OPENAI_API_KEY: 'k',
		https_proxy: 'p',
		BRIDGE_TOKEN: 'secret',
		AWS_SECRET_ACCESS_KEY: 'secret',
	});
	t.deepEqual(seen, {CODEX_HOME: '/c', OPENAI_API_KEY: 'k', https_proxy: 'p'});
});
