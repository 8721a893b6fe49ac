import {execFile} from 'node:child_process';
import {
	cpSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {promisify} from 'node:util';
import test from 'ava';
import {bridgeBin} from '../../helpers/bridge.js';
import {newHome} from './home.js';

test('install claude --yes writes .mcp.json, prints the diff, and the entry starts bridge serve', async t => {
	const {run, cwd} = newHome(t);
	const {code, out, stderr} = await run('install', 'claude', '--identity', 'arch', '--team', 'red', '--yes');
	t.is(code, 0, stderr);
	t.regex(out, /^New file .*\.mcp\.json:\n\+ \{\n/);
	t.regex(out, /confirm that you trust the file/);
	const {mcpServers} = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'));
	t.deepEqual(mcpServers.bridge, {
		type: 'stdio',
		command: process.execPath,
		args: [bridgeBin, 'serve', '--team', 'red', '--identity', 'arch'],
	});
	t.regex(
		(await run('install', 'claude', '--identity', 'arch', '--team', 'red')).out,
		/already has this entry\. Nothing was changed/,
	);
});

test('install writes absolute paths, even if another bridge is in the PATH [U-P0-3]', async t => {
	const {home, cwd, env, run} = newHome(t);
	for (const folder of ['other', 'bin']) mkdirSync(join(home, folder));
	writeFileSync(join(home, 'other', 'bridge'), '#!/bin/sh\n', {mode: 0o755});
	symlinkSync(bridgeBin, join(home, 'bin', 'bridge'));
	for (const first of ['bin', 'other']) {
		env.PATH = `${join(home, first)}:${process.env.PATH}`;
		t.regex((await run('install', 'cursor', first, '--yes')).stderr, /This entry works on this machine only/);
		const {mcpServers} = JSON.parse(readFileSync(join(cwd, '.cursor', 'mcp.json'), 'utf8'));
		t.deepEqual(mcpServers[first], {command: process.execPath, args: [bridgeBin, 'serve']});
	}
});

test('a project entry runs the package if bridge was installed from a registry [U-P0-3] [S-11]', async t => {
	const {home, cwd, env} = newHome(t);
	const folder = join(home, 'node_modules', 'mcp-stream-bridge');
	for (const part of ['bin', 'chunks'])
		cpSync(join(dirname(bridgeBin), '..', part), join(folder, 'dist', part), {recursive: true});
	cpSync(new URL('../../../../package.json', import.meta.url), join(folder, 'package.json'));
	const script = join(folder, 'dist', 'bin', 'bridge.js');
	const {version} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
	const entries = async (resolved: string | undefined, ...args: string[]): Promise<unknown> => {
		const packages = {'node_modules/mcp-stream-bridge': {version, resolved}};
		writeFileSync(join(home, 'node_modules', '.package-lock.json'), JSON.stringify({packages}));
		rmSync(join(cwd, '.cursor'), {recursive: true, force: true});
		await promisify(execFile)(process.execPath, [script, 'install', 'cursor', '--yes', ...args], {cwd, env});
		const file = join(args.includes('--user') ? home : cwd, '.cursor', 'mcp.json');
		return JSON.parse(readFileSync(file, 'utf8')).mcpServers.bridge;
	};
	const shared = {command: 'npx', args: ['-y', `mcp-stream-bridge@${version}`, 'serve']};
	const own = {command: process.execPath, args: [script, 'serve']};
	t.deepEqual(await entries('https://registry.example/mcp-stream-bridge.tgz'), shared);
	t.deepEqual(await entries(undefined), shared);
	t.deepEqual(await entries('file:../mcp-stream-bridge.tgz'), own);
	t.deepEqual(await entries('https://registry.example/mcp-stream-bridge.tgz', '--user'), own);
});

test('install codex keeps comments, permissions and links of ~/.codex/config.toml and creates a backup', async t => {
	const {run, home} = newHome(t);
	const real = join(home, 'dotfiles.toml');
	const before = '# my settings\nmodel = "m"\n';
	writeFileSync(real, before, {mode: 0o644});
	mkdirSync(join(home, '.codex'));
	symlinkSync(real, join(home, '.codex', 'config.toml'));
	const {code, out} = await run('install', 'codex', '--url', 'http://127.0.0.1:7411/mcp', '--yes');
	t.is(code, 0);
	t.regex(out, /\n\+ \[mcp_servers\.bridge-gateway\]\n\+ url = "http:\/\/127\.0\.0\.1:7411\/mcp"\n/);
	t.is(
		readFileSync(real, 'utf8'),
		`${before}\n[mcp_servers.bridge-gateway]\nurl = "http://127.0.0.1:7411/mcp"\n`,
	);
	t.is(statSync(real).mode & 0o777, 0o644);
	t.true(lstatSync(join(home, '.codex', 'config.toml')).isSymbolicLink());
	const [backup = ''] = readdirSync(home).filter(name => name.includes('before-bridge'));
	t.is(readFileSync(join(home, backup), 'utf8'), before);
});

test('install codex sets timeouts that are long enough for turns and keeps those of the user [S-D18]', async t => {
	const {run, home} = newHome(t);
	const file = join(home, '.codex', 'config.toml');
	t.is((await run('install', 'codex', '--yes')).code, 0);
	t.regex(readFileSync(file, 'utf8'), /"serve" \]\nstartup_timeout_sec = 60\ntool_timeout_sec = 3600\n$/);
	const own = '[mcp_servers.bridge]\ncommand = "x"\nargs = ["serve"]\ntool_timeout_sec = 7\n';
	writeFileSync(file, own);
	t.is((await run('install', 'codex', '--yes')).code, 0);
	t.regex(readFileSync(file, 'utf8'), /"serve" \]\nstartup_timeout_sec = 60\ntool_timeout_sec = 7\n$/);
	t.regex((await run('install', 'codex', '--yes')).out, /Nothing was changed/);
});

test("install --user writes the user's file, and CODEX_HOME moves the file of Codex", async t => {
	const {run, home, env} = newHome(t);
	env.CODEX_HOME = join(home, 'elsewhere');
	for (const client of ['claude', 'cursor', 'codex', 'vscode'])
		t.is((await run('install', client, '--user', '--yes')).code, 0);
	for (const file of [
		'.claude.json',
		'.cursor/mcp.json',
		'elsewhere/config.toml',
		'.config/Code/User/mcp.json',
	])
		t.true(existsSync(join(home, file)), file);
});

test('install writes nothing without a terminal or --yes', async t => {
	const {run, cwd} = newHome(t);
	const {code, out, stderr} = await run('install', 'claude');
	t.is(code, 2);
	t.regex(out, /^New file/);
	t.regex(stderr, /there is no terminal for the prompt\. To write without a prompt, use --yes\./);
	t.false(existsSync(join(cwd, '.mcp.json')));
});

test('install rejects unknown clients, invalid files and URLs with credentials, and changes nothing', async t => {
	const {run, cwd} = newHome(t);
	writeFileSync(join(cwd, '.mcp.json'), '{"mcpServers": ');
	for (const [args, message] of [
		[['install'], /bridge install needs a client\. Write: bridge install claude\|codex\|cursor\|vscode/],
		[['install', 'cluade'], /Unknown client "cluade"\. Did you mean claude\?/],
		[['install', 'claude', '--yes'], /\.mcp\.json cannot be parsed: line 1.*Fix it first/],
		[['install', 'claude', '../x'], /is not a valid server name/],
		[['install', 'cursor', '--yes', '--url', 'http://me:hunter2@127.0.0.1/mcp'], /contains credentials/],
	] as const) {
		const {code, stderr} = await run(...args);
		t.is(code, 2, stderr);
		t.regex(stderr, message);
		t.false(stderr.includes('hunter2'));
	}
	t.deepEqual(readdirSync(cwd), ['.mcp.json']);
});
