import test from 'ava';
import {parse} from 'yaml';
import {type Home, newHome} from './home.js';

type Shown = {readonly [name: string]: {readonly [key: string]: unknown}};

/** Returns the servers in the output of `bridge config --check FILE`. */
async function servers({run}: Home, file: string): Promise<Shown> {
	const {code, out, stderr} = await run('config', '--check', file);
	if (code !== 0) throw new Error(stderr);
	return parse(out).servers;
}

test('omits unset variables of Codex and ignores those of disabled servers [U-P0-4]', async t => {
	const home = newHome(t);
	const file = home.put(
		'.codex/config.toml',
		`[mcp_servers.a]
command = "a"
env_vars = ["NOT_SET", "HOME"]
[mcp_servers.b]
url = "https://example.com/mcp"
env_http_headers = { "X-Tenant" = "NOT_SET" }
[mcp_servers.c]
url = "https://example.com/mcp"
bearer_token_env_var = "NOT_SET"
enabled = false
`,
	);
	const shown = await servers(home, file);
	t.deepEqual(Object.keys(shown), ['a', 'b', 'c']);
	t.deepEqual(Object.keys(shown.a?.env as object), ['HOME']);
	t.deepEqual(shown.b?.headers, {});
	const unset = `$\{env:NOT_SET}`;
	const off = {
		env: {command: 'x', args: [unset], env: {A: unset}, disabled: true},
		url: {url: unset, disabled: true},
		on: {command: 'y'},
	};
	const cursor = home.put('.cursor/mcp.json', JSON.stringify({mcpServers: off}));
	t.deepEqual(Object.keys(await servers(home, cursor)), ['env', 'on']);
	home.put('.cursor/mcp.json', JSON.stringify({mcpServers: {...off, on: {command: unset}}}));
	const {code, stderr} = await home.run('config', '--check', cursor);
	t.is(code, 2);
	t.regex(stderr, /mcpServers\.on\.command: The variable NOT_SET is not set/);
	t.notRegex(stderr, /mcpServers\.(?:env|url)/);
});

test('reports an unset token variable of Codex with its key and a remedy for Codex [U-P0-4]', async t => {
	const home = newHome(t);
	const file = home.put(
		'.codex/config.toml',
		'[mcp_servers.figma]\nurl = "https://example.com/mcp"\nbearer_token_env_var = "NOT_SET"\n',
	);
	const {code, stderr} = await home.run('config', '--check', file);
	t.is(code, 2);
	t.regex(
		stderr,
		/mcp_servers\.figma\.bearer_token_env_var: The variable NOT_SET is not set\. Set it, or write enabled = false/,
	);
	t.notRegex(stderr, /:-default/);
});

test('variables in client files may be numbers, booleans or null [U-P0-4]', async t => {
	const home = newHome(t);
	const env = {PORT: 3000, DEBUG: true, UNSET: null, NAME: 'x'};
	home.put('.cursor/mcp.json', JSON.stringify({mcpServers: {a: {command: 'a', env}}}));
	const {code, out, stderr} = await home.run('import', 'cursor');
	t.is(code, 0, stderr);
	t.deepEqual(parse(out).servers.a.env, {PORT: '3000', DEBUG: 'true', NAME: 'x'});
	const file = home.put('bridge.json', JSON.stringify({servers: {a: {command: 'a', env}}}));
	const strict = await home.run('config', '--check', file);
	t.is(strict.code, 2);
	t.regex(strict.stderr, /servers\.a\.env\.PORT: Expected text/);
});
