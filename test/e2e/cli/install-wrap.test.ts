import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {bridgeBin, handshake, server} from '../../helpers/bridge.js';
import {until} from '../../helpers/program.js';
import {newHome} from './home.js';

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

test('install --wrap adds bridge in front of commands, and --unwrap restores the file [U-P0-4]', async t => {
	const home = newHome(t);
	const [command = '', ...args] = server('shop');
	const before = json({
		numStartups: 1,
		mcpServers: {
			shop: {type: 'stdio', command, args, env: {API_TOKEN: 'hunter2'}},
			remote: {type: 'http', url: 'https://example.com/mcp'},
		},
		projects: {
			[home.cwd]: {mcpServers: {local: {command: 'x', args: ['--flag']}}},
			'/other': {mcpServers: {o: {command: 'o'}}},
		},
	});
	const file = home.put('.claude.json', before);
	const wrapped = await home.run('install', 'claude', '--wrap', '--user', '--yes');
	t.is(wrapped.code, 0, wrapped.stderr);
	t.regex(wrapped.out, /Skipped: remote has a url, /);
	t.regex(wrapped.out, /\n\+ .*bridge\.js"/);
	t.regex(wrapped.out, /The previous file is saved as /);
	t.false(wrapped.out.includes('hunter2'));
	const {mcpServers, projects} = JSON.parse(readFileSync(file, 'utf8'));
	t.like(mcpServers.shop, {command: process.execPath, env: {API_TOKEN: 'hunter2'}});
	t.deepEqual(mcpServers.shop.args, [bridgeBin, '--', command, ...args]);
	t.deepEqual(projects[home.cwd].mcpServers.local, {
		command: process.execPath,
		args: [bridgeBin, '--', 'x', '--flag'],
	});
	t.is(projects['/other'].mcpServers.o.command, 'o');
	const started = spawn(mcpServers.shop.command, mcpServers.shop.args, {
		env: home.env,
		stdio: ['pipe', 'pipe', 'ignore'],
	});
	t.teardown(() => started.kill());
	started.stdin.write(`${handshake[0]}\n`);
	const [response] = await once(started.stdout, 'data');
	t.regex(String(response), /"serverInfo"/);
	started.stdin.end();
	await once(started, 'exit');
	const again = await home.run('install', 'claude', '--wrap', '--user', '--yes');
	t.regex(again.out, /Skipped: shop is already wrapped\.\n.*Nothing was changed/s);
	t.is((await home.run('install', 'claude', '--unwrap', '--user', '--yes')).code, 0);
	t.is(readFileSync(file, 'utf8'), before);
});

test('install --wrap works for all clients, with absolute paths if bridge is not in PATH [U-P0-4]', async t => {
	const home = newHome(t);
	const toml = '# mine\n[mcp_servers.a]\ncommand = "x"\nargs = ["y"]\n';
	home.put('.codex/config.toml', toml);
	for (const [folder, group] of [
		['.cursor', 'mcpServers'],
		['.vscode', 'servers'],
	] as const) {
		mkdirSync(join(home.cwd, folder));
		writeFileSync(join(home.cwd, folder, 'mcp.json'), json({[group]: {a: {command: 'x', args: ['y']}}}));
	}
	for (const [client, file] of [
		['codex', join(home.home, '.codex', 'config.toml')],
		['cursor', join(home.cwd, '.cursor', 'mcp.json')],
		['vscode', join(home.cwd, '.vscode', 'mcp.json')],
	] as const) {
		const before = readFileSync(file, 'utf8');
		t.is((await home.run('install', client, '--wrap', '--yes')).code, 0, client);
		const after = readFileSync(file, 'utf8');
		for (const word of [process.execPath, bridgeBin, '"--"', '"x"', '"y"'])
			t.true(after.includes(word), word);
		t.is((await home.run('install', client, '--unwrap', '--yes')).code, 0, client);
		t.is(readFileSync(file, 'utf8'), before);
	}
});

test('install hides all secrets of the file in its diff, however they are written [U-P0-4]', async t => {
	const home = newHome(t);
	const texts = [
		'hunter2secretvalue',
		'plainsecretvalue99',
		'patsecretvalue',
		'x-header-value',
		'sk-arg-0123456789',
	];
	const [flag, key, pat, header, arg] = texts;
	mkdirSync(join(home.cwd, '.cursor'));
	const file = join(home.cwd, '.cursor', 'mcp.json');
	const escaped = String(key).replace('p', '\\u0070');
	writeFileSync(
		file,
		`{"mcpServers": {
  "a": {"env": {"MY_KEY": "${escaped}", "GITHUB_PAT": "${pat}", "LEVEL": "debug"},
    "command": "x", "args": ["--token", "${flag}", "--debug", "${arg}"]},
  "b": {"url": "https://example.com", "headers": {"X-Thing": "${header}"}}
}}\n`,
	);
	const toml = `[mcp_servers.a]\ncommand = "x"\nargs = ['--token', '${flag}']\nenv = { MY_KEY = '${key}', GITHUB_PAT = """\n${pat}""" }\n`;
	home.put('.codex/config.toml', toml);
	for (const client of ['cursor', 'codex'])
		for (const change of [['--wrap'], ['--unwrap'], []]) {
			const {code, out, stderr} = await home.run('install', client, ...change, '--yes');
			t.is(code, 0, stderr);
			for (const text of [...texts, escaped]) t.false(`${out}${stderr}`.includes(text), `${text}\n${out}`);
			if (client === 'cursor' && change.length > 0) t.regex(out, /"--debug"/);
		}
	for (const text of texts.slice(0, 1))
		t.true(readFileSync(file, 'utf8').includes(text), 'the file keeps them');
});

test('install uses a different name for each kind of entry, so that none replaces another [U-P1-10]', async t => {
	const home = newHome(t);
	home.put('.config/bridge/bridge.yaml', 'servers: {a: {command: x}}');
	for (const args of [
		[],
		['--hub'],
		['--url', 'http://127.0.0.1:7411/mcp'],
		['--url', 'http://127.0.0.1:7411/mcp/a'],
		['--url', 'http://127.0.0.1:7411/b/mcp'],
	])
		t.is((await home.run('install', 'vscode', '--yes', ...args)).code, 0, args.join(' '));
	const {servers} = JSON.parse(readFileSync(join(home.cwd, '.vscode', 'mcp.json'), 'utf8'));
	t.deepEqual(
		Object.keys(servers).toSorted((a, b) => a.localeCompare(b)),
		['bridge', 'bridge-a', 'bridge-b', 'bridge-gateway', 'bridge-hub'],
	);
	t.deepEqual(servers['bridge-hub'], {
		type: 'stdio',
		command: process.execPath,
		args: [bridgeBin, 'hub', '--config', join(home.home, '.config', 'bridge', 'bridge.yaml')],
	});
	t.like(servers['bridge-a'], {type: 'http', url: 'http://127.0.0.1:7411/mcp/a'});
	t.like(servers['bridge-gateway'], {type: 'http', url: 'http://127.0.0.1:7411/mcp'});
});

test('install replaces only an entry of the same kind and otherwise uses another name [U-P0-4]', async t => {
	const home = newHome(t);
	home.put('.config/bridge/bridge.yaml', 'servers: {a: {command: x}}');
	const file = join(home.cwd, '.cursor', 'mcp.json');
	const urls = ['http://127.0.0.1:1/mcp', 'http://127.0.0.1:2/mcp', 'http://127.0.0.1:1/mcp/gateway'];
	for (const args of [
		...urls.map(url => ['--url', url]),
		['--url', 'http://127.0.0.1:1/mcp/hub'],
		['--hub'],
		['--identity', 'arch'],
		// These update existing entries.
		['--url', urls[1] ?? ''],
		['--hub'],
		['--identity', 'critic'],
	]) {
		const {code, stderr} = await home.run('install', 'cursor', '--yes', ...args);
		t.is(code, 0, stderr);
	}
	const {mcpServers} = JSON.parse(readFileSync(file, 'utf8'));
	t.is(Object.keys(mcpServers).length, 6);
	t.deepEqual(
		urls,
		['bridge-gateway', 'bridge-gateway-2', 'bridge-gateway-3'].map(name => mcpServers[name].url),
	);
	t.true(mcpServers['bridge-hub-2'].args.includes('hub'));
	t.deepEqual(mcpServers.bridge.args.slice(-2), ['--identity', 'critic']);
	const {code, stderr} = await home.run('install', 'cursor', 'hub', '--yes');
	t.is(code, 2);
	t.regex(stderr, /For the hub, write: bridge install cursor --hub/);
});

test('install --hub rejects a missing or untrusted configuration and conflicting flags', async t => {
	const home = newHome(t);
	for (const [args, message] of [
		[['claude', '--hub'], /No configuration file was found for the hub/],
		[['claude', '--hub', '--url', 'http://127.0.0.1/mcp'], /--hub and --url exclude each other/],
		[['claude', '--wrap', '--unwrap'], /--wrap and --unwrap exclude each other/],
		[['claude', 'name', '--wrap'], /Unexpected argument "name" for bridge install --wrap/],
		[
			['claude', '--wrap', '--identity', 'arch'],
			/--wrap cannot be combined with --config or flags of bridge serve/,
		],
		[['cursor', '--wrap'], /\.cursor\/mcp\.json does not exist\. Choose another client, or use --user/],
	] as const) {
		const {code, stderr} = await home.run('install', ...args, '--yes');
		t.is(code, 2, stderr);
		t.regex(stderr, message);
	}
	writeFileSync(join(home.cwd, 'bridge.yaml'), 'servers: {a: {command: x}}');
	t.regex((await home.run('install', 'claude', '--hub', '--yes')).stderr, /bridge\.yaml is not trusted/);
	t.deepEqual(readdirSync(home.cwd), ['bridge.yaml']);
});

test('a hub entry never names a trusted file of the working directory without --config [SEC-D7]', async t => {
	const home = newHome(t);
	writeFileSync(join(home.cwd, 'bridge.yaml'), 'servers: {a: {command: x}}');
	t.is((await home.run('trust')).code, 0);
	for (const args of [
		['install', 'claude', '--hub', '--yes'],
		['hub', '--print-client', 'claude'],
	]) {
		const {code, out, stderr} = await home.run(...args);
		t.is(code, 2, out);
		t.regex(stderr, /bridge\.yaml was found in the working directory/);
		t.regex(
			stderr,
			/Later changes to a file that is passed with --config run without a trust check\..* --config bridge\.yaml/s,
		);
		t.is(out, '');
	}
	t.deepEqual(readdirSync(home.cwd), ['bridge.yaml']);
	const named = await home.run('install', 'claude', '--hub', '--config', 'bridge.yaml', '--yes');
	t.is(named.code, 0, named.stderr);
	t.regex(named.out, /Later changes to a file that is passed with --config run without a trust check\./);
});

test('Ctrl+C at the prompt of install writes nothing and exits with 130 [U-P0-5]', async t => {
	const {cwd, env} = newHome(t);
	const command = [process.execPath, bridgeBin, 'install', 'claude'].join(' ');
	const terminal = spawn('script', ['-qec', command, '/dev/null'], {cwd, env: {...env, SHELL: '/bin/sh'}});
	t.teardown(() => terminal.kill());
	let output = '';
	terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
		output += text;
	});
	await until(() => output.includes('[y/N]'));
	terminal.stdin.write('\u0003');
	const [code] = await once(terminal, 'exit');
	t.is(code, 130, output);
	t.regex(output, /Nothing was written\./);
	t.notRegex(output, /bug in bridge/);
	t.false(existsSync(join(cwd, '.mcp.json')));
});
