import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test from 'ava';
import {parse} from 'yaml';
import {server, startBridge} from '../../helpers/bridge.js';
import {type Home, newHome} from './home.js';

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** Writes a file into the working directory. */
function work({cwd}: Home, path: string, text: string): string {
	const file = join(cwd, path);
	mkdirSync(dirname(file), {recursive: true});
	writeFileSync(file, text, {mode: 0o600});
	return file;
}

type Shown = {readonly [name: string]: {readonly [key: string]: unknown}};

/** Returns the servers and warnings in the output of `bridge config --check FILE`. */
async function servers(
	{run}: Home,
	file: string,
): Promise<{names: string[]; shown: Shown; stderr: string; warnings: string[]}> {
	const {code, out, stderr} = await run('config', '--check', file);
	if (code !== 0) throw new Error(stderr);
	const {servers: shown} = parse(out) as {servers: Shown};
	return {names: Object.keys(shown), shown, stderr, warnings: stderr.split('\n').filter(Boolean)};
}

test('loads ~/.claude.json unchanged, with the servers of the user and of the working directory [U-P0-4]', async t => {
	const home = newHome(t);
	const file = home.put(
		'.claude.json',
		json({
			firstStartTime: '2026-01-01',
			numStartups: 7,
			userID: 'x',
			tipsHistory: {a: 1},
			migrationVersion: 3,
			projects: {
				[home.cwd]: {
					allowedTools: [],
					mcpServers: {here: {type: 'stdio', command: 'here', args: [], env: {}}, both: {command: 'local'}},
					disabledMcpServers: ['off'],
				},
				'/elsewhere': {mcpServers: {other: {command: 'other'}}},
			},
			mcpServers: {
				GitHub: {type: 'http', url: 'https://api.githubcopilot.com/mcp/'},
				both: {command: 'user'},
				off: {command: 'off'},
			},
		}),
	);
	const {names, shown, warnings} = await servers(home, file);
	t.deepEqual(names, ['github', 'both', 'off', 'here']);
	t.is(shown.both?.command, 'local');
	t.is(shown.off?.enabled, false);
	t.is(warnings.length, 2, warnings.join('\n'));
	t.regex(warnings[0] ?? '', /\.claude\.json: Server names were changed .*: "GitHub" becomes github\./);
	t.regex(
		warnings[1] ?? '',
		/Keys that bridge does not use are ignored: firstStartTime, .* and \d+ more|migrationVersion\./,
	);
});

test('loads a ~/.claude.json with megabytes of history [U-P0-4]', async t => {
	const home = newHome(t);
	const history = Array.from({length: 30_000}, (_, at) => ({display: `prompt ${at} ${'x'.repeat(80)}`}));
	const file = home.put('.claude.json', json({history, mcpServers: {a: {command: 'a'}}}));
	t.deepEqual((await servers(home, file)).names, ['a']);
});

test('loads a claude_desktop_config.json with unknown keys and reports them in one warning [U-P0-4]', async t => {
	const home = newHome(t);
	const file = work(
		home,
		'claude_desktop_config.json',
		json({
			preferences: {menuBarEnabled: true},
			isUsingBuiltInNodeForMcp: true,
			secondKey: 1,
			mcpServers: {files: {command: 'npx', args: ['-y', 'x'], autoApprove: ['read'], custom: 1}},
		}),
	);
	const {names, warnings} = await servers(home, file);
	t.deepEqual(names, ['files']);
	t.is(warnings.length, 1);
	t.regex(
		warnings[0] ?? '',
		/ignored: preferences, isUsingBuiltInNodeForMcp, secondKey, mcpServers\.files\.autoApprove, mcpServers\.files\.custom\./,
	);
});

test('loads .cursor/mcp.json with any names, variables of Cursor and envFile [U-P0-4] [A-G4]', async t => {
	const home = newHome(t, {LEVEL: 'k'});
	work(home, '.env', '# mine\nFROM_FILE=1\nexport QUOTED="a b"\nTOKEN=file\n');
	const file = work(
		home,
		'.cursor/mcp.json',
		json({
			mcpServers: {
				GitHub: {
					command: `$\{workspaceFolder}/run`,
					args: [`$\{userHome}`, `$\{workspaceFolderBasename}`, `$\{env:LEVEL}`],
					envFile: `$\{workspaceFolder}/.env`,
					env: {TOKEN: 'own'},
				},
				github: {url: 'https://example.com/mcp'},
				'my.server': {command: 'x'},
				日本: {command: 'y'},
			},
		}),
	);
	const {names, shown, stderr} = await servers(home, file);
	t.deepEqual(names, ['github-2', 'github', 'my-server', 'server']);
	t.like(shown['github-2'], {command: join(home.cwd, 'run'), cwd: home.cwd});
	t.deepEqual(shown['github-2']?.args, [home.home, 'work', 'k']);
	t.deepEqual(Object.keys(shown['github-2']?.env as object), ['FROM_FILE', 'QUOTED', 'TOKEN']);
	t.regex(stderr, /"GitHub" becomes github-2, "my\.server" becomes my-server/);
});

test('loads .vscode/mcp.json with inputs from variables and names inputs without a value [U-P0-4]', async t => {
	const home = newHome(t);
	const file = work(
		home,
		'.vscode/mcp.json',
		`{
	// comments stay
	"inputs": [
		{"type": "promptString", "id": "api-key", "description": "key", "password": true},
		{"type": "pickString", "id": "region", "default": "eu", "options": ["eu", "us"]},
	],
	"servers": {
		"Api": {
			"type": "http",
			"url": "https://\${input:region}.example.com/mcp",
			"headers": {"Authorization": "Bearer \${input:api-key}"},
		},
		"local": {"command": "node", "args": ["s.js"], "dev": {"watch": "*"}},
	},
}`,
	);
	const {code, stderr} = await home.run('config', '--check', file);
	t.is(code, 2);
	t.regex(
		stderr,
		/mcp\.json:11: servers\.Api\.headers\.Authorization: The input "api-key" has no value\. Set the environment variable BRIDGE_INPUT_API_KEY\./,
	);
	home.env.BRIDGE_INPUT_API_KEY = 'secret';
	const {shown, warnings} = await servers(home, file);
	t.is(shown.api?.url, 'https://eu.example.com/mcp');
	t.is(shown.local?.cwd, home.cwd);
	t.is(warnings.length, 2);
});

test('reports a missing envFile with its location, unless the server is disabled [U-P0-4]', async t => {
	const home = newHome(t);
	const entry = {command: 'x', envFile: '.env'};
	const file = work(home, 'mcp.json', json({servers: {a: entry, b: {...entry, disabled: true}}}));
	const {code, stderr} = await home.run('config', '--check', file);
	t.is(code, 2);
	t.regex(
		stderr,
		/mcp\.json:5: servers\.a\.envFile: There is no such file\. Create it, or remove this key\./,
	);
	t.notRegex(stderr, /servers\.b/);
});

test('loads ~/.codex/config.toml unchanged, with its variables, headers and limits [U-P0-4]', async t => {
	const home = newHome(t, {PAT: 'p', TENANT: 't', PASSED: '1'});
	const file = home.put(
		'.codex/config.toml',
		`model = "gpt-5"
[plugins."x"]
enabled = true
[projects."/work"]
trust_level = "trusted"
[mcp_servers.Files]
command = "npx"
args = ["-y", "files", "\${HOME}"]
env_vars = ["PASSED"]
startup_timeout_sec = 20
tool_timeout_sec = 90
[mcp_servers.Files.env]
LEVEL = "debug"
[mcp_servers.remote]
url = "https://example.com/mcp"
bearer_token_env_var = "PAT"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Tenant" = "TENANT" }
enabled = false
`,
	);
	const {names, shown, warnings} = await servers(home, file);
	t.deepEqual(names, ['files', 'remote']);
	t.deepEqual(shown.files?.args, ['-y', 'files', `$\{HOME}`], 'Codex does not expand variables');
	t.deepEqual(Object.keys(shown.files?.env as object), ['PASSED', 'LEVEL']);
	t.is(shown.files?.timeout, 90);
	t.deepEqual(Object.keys(shown.remote?.headers as object), ['X-Region', 'X-Tenant', 'Authorization']);
	t.is(shown.remote?.enabled, false);
	t.is(warnings.length, 2);
	t.regex(warnings[1] ?? '', /model, plugins, projects, mcp_servers\.Files\.startup_timeout_sec\./);
});

test("a hub starts the servers in another client's file with variables that the client sets [U-P0-4]", async t => {
	const home = newHome(t, {PAT: 'secret'});
	const [command = '', ...args] = server('shop');
	const file = work(
		home,
		'mcp.json',
		json({
			mcpServers: {'My Echo': {command, args, env: {TOKEN: `$\{env:PAT}`}, alwaysAllow: []}},
			theme: 'dark',
		}),
	);
	const hub = startBridge(['hub', '--config', file], {cwd: home.cwd, env: home.env});
	await hub.shakeHands();
	t.teardown(() => hub.child.kill());
	const response = await hub.request(2, 'tools/call', {
		name: 'run',
		arguments: {command: 'my_echo.variable(name="TOKEN")'},
	});
	t.regex(JSON.stringify(response), /secret/);
	t.is(await hub.end(), 0);
});

test('a change of ~/.claude.json that does not affect servers is not reported as a new configuration [U-P0-4]', async t => {
	const home = newHome(t);
	const [command = '', ...args] = server('shop');
	const text = (numStartups: number, more = {}): string =>
		json({numStartups, mcpServers: {shop: {command, args}, ...more}});
	const file = home.put('.claude.json', text(1));
	const hub = startBridge(['hub', '--config', file, '--log-level', 'debug'], {cwd: home.cwd, env: home.env});
	t.teardown(() => hub.child.kill());
	await hub.shakeHands();
	home.put('.claude.json', text(2));
	await hub.says(/"event":"config\.same"/);
	t.notRegex(hub.stderr, /"event":"config\.loaded"/);
	home.put('.claude.json', text(3, {Second: {command, args}}));
	await hub.says(
		/"event":"config\.loaded".*"added":\["second"\]|"added":\["second"\].*"event":"config\.loaded"/,
	);
	t.is(await hub.end(), 0);
});

test('unknown keys and invalid names in a bridge file are errors [U-P0-4]', async t => {
	const home = newHome(t);
	for (const [name, text, expected] of [
		['bridge.json', json({mcpServers: {GitHub: {command: 'x'}}, theme: 1}), /theme: This key is not known/],
		[
			'own.json',
			json({listen: 1, mcpServers: {a: {command: 'x', envFile: '.env'}}}),
			/envFile: This key is not/,
		],
		['own.yaml', 'mcpServers: {GitHub: {command: x}}', /Invalid server name, since it is part of a URL/],
		['own.toml', '[servers.a]\ncommnd = "x"', /commnd: This key is not known/],
	] as const) {
		const {code, stderr} = await home.run('config', '--check', work(home, name, text));
		t.is(code, 2, name);
		t.regex(stderr, expected);
	}
});
