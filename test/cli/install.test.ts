import {
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {bridgeBin} from '../helpers/bridge.js';
import {newHome} from './home.js';

test('install claude --yes writes .mcp.json, shows what it writes, and the entry starts bridge serve', async t => {
	const {run, cwd} = newHome(t);
	const {code, out, stderr} = await run('install', 'claude', '--identity', 'arch', '--team', 'red', '--yes');
	t.is(code, 0, stderr);
	t.regex(out, /^New file .*\.mcp\.json:\n\+ \{\n/);
	t.regex(out, /Claude Code asks whether you trust it/);
	const {mcpServers} = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'));
	t.deepEqual(mcpServers.bridge, {
		type: 'stdio',
		command: process.execPath,
		args: [bridgeBin, 'serve', '--team', 'red', '--identity', 'arch'],
	});
	t.regex(
		(await run('install', 'claude', '--identity', 'arch', '--team', 'red')).out,
		/has it already; nothing is to be done/,
	);
});

test('install uses the name of the program where that is found', async t => {
	const {home, cwd, env, run} = newHome(t);
	mkdirSync(join(home, 'bin'));
	symlinkSync(bridgeBin, join(home, 'bin', 'bridge'));
	env.PATH = `${join(home, 'bin')}:${env.PATH}`;
	await run('install', 'cursor', 'codex-team', '--yes');
	t.deepEqual(JSON.parse(readFileSync(join(cwd, '.cursor', 'mcp.json'), 'utf8')), {
		mcpServers: {'codex-team': {command: 'bridge', args: ['serve']}},
	});
});

test('install codex changes ~/.codex/config.toml, keeps its comments, its rights, a link to it, and a copy', async t => {
	const {run, home} = newHome(t);
	const real = join(home, 'dotfiles.toml');
	const before = '# my settings\nmodel = "m"\n';
	writeFileSync(real, before, {mode: 0o644});
	mkdirSync(join(home, '.codex'));
	symlinkSync(real, join(home, '.codex', 'config.toml'));
	const {code, out} = await run('install', 'codex', '--url', 'http://127.0.0.1:7411/mcp', '--yes');
	t.is(code, 0);
	t.regex(out, /\n\+ \[mcp_servers\.bridge\]\n\+ url = "http:\/\/127\.0\.0\.1:7411\/mcp"\n/);
	t.is(readFileSync(real, 'utf8'), `${before}\n[mcp_servers.bridge]\nurl = "http://127.0.0.1:7411/mcp"\n`);
	t.is(statSync(real).mode & 0o777, 0o644);
	t.true(lstatSync(join(home, '.codex', 'config.toml')).isSymbolicLink());
	const [backup = ''] = readdirSync(home).filter(name => name.includes('before-bridge'));
	t.is(readFileSync(join(home, backup), 'utf8'), before);
});

test('install --user is for the user, and CODEX_HOME moves the file of Codex', async t => {
	const {run, home, env} = newHome(t);
	env.CODEX_HOME = join(home, 'elsewhere');
	for (const client of ['claude', 'cursor', 'codex'])
		t.is((await run('install', client, '--user', '--yes')).code, 0);
	for (const file of ['.claude.json', '.cursor/mcp.json', 'elsewhere/config.toml'])
		t.true(existsSync(join(home, file)), file);
});

test('install asks, and without a terminal writes nothing unless --yes is said', async t => {
	const {run, cwd} = newHome(t);
	const {code, out, stderr} = await run('install', 'claude');
	t.is(code, 2);
	t.regex(out, /^New file/);
	t.regex(stderr, /there is no terminal to ask on\. If this is what you want, say --yes\./);
	t.false(existsSync(join(cwd, '.mcp.json')));
});

test('install refuses unknown clients, broken files and addresses with secrets, and changes nothing', async t => {
	const {run, cwd} = newHome(t);
	writeFileSync(join(cwd, '.mcp.json'), '{"mcpServers": ');
	for (const [args, message] of [
		[['install'], /Which client\? Write: bridge install claude\|codex\|cursor/],
		[['install', 'cluade'], /There is no client cluade\. Did you mean claude\?/],
		[['install', 'claude', '--yes'], /\.mcp\.json is broken: line 1.*Mend it first/],
		[['install', 'claude', '../x'], /cannot be the name of a server/],
		[['install', 'cursor', '--yes', '--url', 'http://me:hunter2@127.0.0.1/mcp'], /has a secret in it/],
	] as const) {
		const {code, stderr} = await run(...args);
		t.is(code, 2, stderr);
		t.regex(stderr, message);
		t.false(stderr.includes('hunter2'));
	}
	t.deepEqual(readdirSync(cwd), ['.mcp.json']);
});
