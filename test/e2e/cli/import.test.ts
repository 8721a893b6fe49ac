import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test from 'ava';
import {parse} from 'yaml';
import {type Home, newHome} from './home.js';

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

function work({cwd}: Home, path: string, text: string): string {
	const file = join(cwd, path);
	mkdirSync(dirname(file), {recursive: true});
	writeFileSync(file, text, {mode: 0o600});
	return file;
}

const secrets = [
	'ghp_0123456789abcdefghij',
	'hunter2-hunter2',
	'S3cretS3cretS3cretS3cret',
	'xyz-token',
	'pa55word',
];

/** Writes the files of all four clients, with a secret in each possible location. */
function writeClientFiles(home: Home): void {
	const [github, password, bearer, flag, user] = secrets;
	home.put(
		'.claude.json',
		json({
			numStartups: 3,
			mcpServers: {
				GitHub: {
					command: 'npx',
					args: ['-y', 'github'],
					env: {GITHUB_TOKEN: github, LOG_LEVEL: 'debug', SSH_KEY_PATH: '/k'},
				},
				search: {type: 'http', url: 'https://example.com/mcp', headers: {Authorization: `Bearer ${bearer}`}},
			},
			projects: {[home.cwd]: {mcpServers: {local: {command: './server.js', args: ['--api-key', flag]}}}},
		}),
	);
	home.put(
		'.codex/config.toml',
		`[mcp_servers.db]\ncommand = "db"\nargs = ["postgres://me:${user}@host/x"]\nenv = { DB_PASSWORD = "${password}", PLAIN = "\${X}" }\n`,
	);
	work(home, '.cursor/mcp.json', json({mcpServers: {files: {command: 'f', args: [`$\{workspaceFolder}`]}}}));
	work(home, '.env', `API_TOKEN=${bearer}\n`);
	work(
		home,
		'.vscode/mcp.json',
		json({
			inputs: [{id: 'key', type: 'promptString'}],
			servers: {
				files: {command: 'other'},
				asks: {command: 'a', env: {KEY: `$\{input:key}`}, envFile: `$\{workspaceFolder}/.env`},
				broken: {args: []},
			},
		}),
	);
}

test('import prints the servers of all clients without their secrets as a valid configuration [U-P0-4]', async t => {
	const home = newHome(t);
	writeClientFiles(home);
	const {code, out, stderr} = await home.run('import');
	t.is(code, 0, stderr);
	for (const secret of secrets) t.false(`${out}${stderr}`.includes(secret), secret);
	const {servers} = parse(out);
	t.deepEqual(servers, {
		github: {
			command: 'npx',
			args: ['-y', 'github'],
			env: {GITHUB_TOKEN: `$\{GITHUB_TOKEN}`, LOG_LEVEL: 'debug', SSH_KEY_PATH: '/k'},
		},
		search: {
			type: 'http',
			url: 'https://example.com/mcp',
			headers: {Authorization: `Bearer $\{SEARCH_AUTHORIZATION}`},
		},
		local: {command: './server.js', args: ['--api-key', `$\{LOCAL_API_KEY}`], cwd: home.cwd},
		db: {
			command: 'db',
			args: [`$\{DB_POSTGRES}`],
			env: {DB_PASSWORD: `$\{DB_PASSWORD}`, PLAIN: `$$\{X}`},
		},
		files: {command: 'f', args: [home.cwd], cwd: home.cwd},
		'files-2': {command: 'other', cwd: home.cwd},
		asks: {
			command: 'a',
			cwd: home.cwd,
			env: {API_TOKEN: `$\{API_TOKEN}`, KEY: `$\{BRIDGE_INPUT_KEY}`},
		},
	});
	t.regex(stderr, /Secrets were replaced with variables/);
	t.regex(stderr, /^ {2}GITHUB_TOKEN +servers\.github\.env\.GITHUB_TOKEN$/m);
	t.regex(stderr, /The file also uses these variables: BRIDGE_INPUT_KEY\./);
	t.regex(stderr, /server files is imported as files-2/);
	t.regex(stderr, /server broken is skipped: Expected a url or a command\./);
	const names = [...out.matchAll(/(?<!\$)\$\{(\w+)\}/g)].map(([, name = '']) => name);
	for (const name of names) home.env[name] = 'x';
	const check = await home.run('config', '--check', work(home, 'bridge.yaml', out));
	t.is(check.code, 0, check.stderr);
});

test('import of one client reads only its files, and --with-secrets copies secrets with a warning [U-P0-4]', async t => {
	const home = newHome(t);
	writeClientFiles(home);
	const {code, out, stderr} = await home.run('import', 'codex', '--with-secrets');
	t.is(code, 0, stderr);
	t.deepEqual(Object.keys(parse(out).servers), ['db']);
	t.is(parse(out).servers.db.env.DB_PASSWORD, 'hunter2-hunter2');
	t.regex(stderr, /The output contains secrets\. Keep the file readable only by you \(chmod 600 FILE\)/);
	t.false(stderr.includes('hunter2'));
});

test('import undoes install --wrap and skips bridge hub [U-P0-4]', async t => {
	const home = newHome(t);
	work(
		home,
		'.mcp.json',
		json({
			mcpServers: {
				a: {command: 'bridge', args: ['--', 'npx', '-y', 'a']},
				b: {command: '/usr/bin/node', args: ['/opt/bridge/dist/bin/bridge.js', '--', 'b']},
				hub: {command: 'bridge', args: ['hub']},
			},
		}),
	);
	const {out, stderr} = await home.run('import', 'claude');
	t.deepEqual(parse(out).servers, {
		a: {command: 'npx', args: ['-y', 'a'], cwd: home.cwd},
		b: {command: 'b', args: [], cwd: home.cwd},
	});
	t.regex(stderr, /the server hub is skipped: it is bridge hub itself\./);
});

test('import escapes control characters and preserves the values', async t => {
	const home = newHome(t);
	const odd = ['\u001b[2J', '\u009b1m', '\u202e', 'a\nb', '\r'];
	work(home, '.cursor/mcp.json', json({mcpServers: {a: {command: 'x', args: odd}}}));
	const {code, out, stderr} = await home.run('import', 'cursor');
	t.is(code, 0, stderr);
	for (const character of ['\u001b', '\u009b', '\u202e', '\r']) t.false(out.includes(character));
	t.deepEqual(parse(out).servers.a.args, odd);
});

test('import without servers exits with 1 and names the files, and rejects an unknown client', async t => {
	const home = newHome(t);
	const none = await home.run('import', 'cursor');
	t.is(none.code, 1);
	t.is(none.out, '');
	t.regex(none.stderr, /No servers were found\. These files are searched: .*\.cursor\/mcp\.json/);
	const unknown = await home.run('import', 'cusor');
	t.is(unknown.code, 2);
	t.regex(unknown.stderr, /Unknown client "cusor"\. Did you mean cursor\?/);
	const misplaced = await home.run('doctor', '--with-secrets');
	t.is(misplaced.code, 2);
});

/** Secrets next to references, in their defaults, and inside of words. */
const mixed = {
	inputs: [{id: 'pw', type: 'promptString', password: true, default: 'input-secret-01'}],
	servers: {
		a: {
			command: 'sh',
			args: [
				'-c',
				'export API_KEY=shell-secret-02; exec server',
				'--header=Authorization: Bearer header-secret-03',
				`TOKEN=$\{TOKEN:-default-secret-04}`,
				'--header',
				`Authorization: Bearer $\{AUTH}`,
				`--dir=$\{HOME}/x`,
				'-c',
				`curl -H "Authorization: Bearer $\{AUTH}" https://example.com`,
				'--config={"apiKey": "json-secret-05"}',
			],
			env: {
				API_KEY: `$\{API_KEY:-sk-literal-secret-06}`,
				NOTE: `x $\{Y} ghp_secret070123456789`,
				GLUED: `x$\{Y}ghp_secret080123456789`,
				OTHER: `$\{DB_TOKEN:-named-secret-09}`,
				GITHUB_PAT: 'pat-secret-10',
				MYSQL_PWD: 'pwd-secret-11',
				ASKED: `$\{input:pw}`,
				KEPT: `$\{LEVEL:-debug}`,
				SSH_KEY_PATH: `$\{HOME}/.ssh/key`,
				MY_KEY: `$\{MY_KEY}`,
			},
			envFile: `$\{workspaceFolder}/.env`,
		},
		b: {url: `https://example.com/mcp?api_key=url-secret-12&ws=$\{WS}`},
		c: {url: `https://$\{HOST}/mcp?ws=$\{WS}`, headers: {Authorization: `Bearer $\{T:-bearer-secret-13}`}},
	},
};

test('import replaces secrets next to references, in defaults, within texts, and all of an envFile [U-P0-4]', async t => {
	const home = newHome(t);
	work(home, '.env', 'DB_PASS=file-secret-14\nPLAIN=file-secret-15\n');
	work(home, '.vscode/mcp.json', json(mixed));
	home.put(
		'.codex/config.toml',
		`[mcp_servers.d]\ncommand = "d"\nenv = { API_KEY = "ab\${cd}ef-secret-16", TEXT = "\${userHome}" }\n`,
	);
	const {code, out, stderr} = await home.run('import');
	t.is(code, 0, stderr);
	t.notRegex(`${out}${stderr}`, /secret-?\d/);
	const {a, b, c, d} = parse(out).servers;
	t.deepEqual(a.args, [
		'-c',
		`$\{A_ARGUMENT}`,
		`--header=$\{A_HEADER}`,
		`TOKEN=$\{A_TOKEN}`,
		'--header',
		`Authorization: Bearer $\{AUTH}`,
		`--dir=$\{HOME}/x`,
		'-c',
		`curl -H "Authorization: Bearer $\{AUTH}" https://example.com`,
		`--config=$\{A_CONFIG}`,
	]);
	t.deepEqual(a.env, {
		DB_PASS: `$\{DB_PASS}`,
		PLAIN: `$\{PLAIN}`,
		API_KEY: `$\{API_KEY_2}`,
		NOTE: `$\{NOTE}`,
		GLUED: `$\{GLUED}`,
		OTHER: `$\{OTHER}`,
		GITHUB_PAT: `$\{GITHUB_PAT}`,
		MYSQL_PWD: `$\{MYSQL_PWD}`,
		ASKED: `$\{BRIDGE_INPUT_PW}`,
		KEPT: `$\{LEVEL:-debug}`,
		SSH_KEY_PATH: `$\{HOME}/.ssh/key`,
		MY_KEY: `$\{MY_KEY}`,
	});
	t.is(b.url, `$\{B_URL}`);
	t.is(c.url, `https://$\{HOST}/mcp?ws=$\{WS}`);
	t.is(c.headers.Authorization, `Bearer $\{C_AUTHORIZATION}`);
	t.deepEqual(d.env, {API_KEY: `$\{API_KEY}`, TEXT: `$$\{userHome}`});
	t.regex(stderr, /^ {2}DB_PASS +servers\.a\.env\.DB_PASS$/m);
	const copied = await home.run('import', '--with-secrets');
	t.notRegex(copied.out, /input-secret/);
	t.regex(copied.out, /file-secret-14/);
});

test('import accepts variables with the names of object members [U-P0-4]', async t => {
	const home = newHome(t);
	const env = {A: `$\{constructor}`, B: `$\{__proto__}`, C: `$\{toString}`};
	work(home, '.cursor/mcp.json', json({mcpServers: {a: {command: 'x', env}}}));
	const {code, out, stderr} = await home.run('import', 'cursor');
	t.is(code, 0, stderr);
	t.deepEqual(parse(out).servers.a.env, env);
});

test('import with many warnings prints no warnings of Node [U-P0-4]', async t => {
	const home = newHome(t);
	const names = Array.from({length: 20}, (_, index) => `server-${index}`);
	const servers = (command: string): string =>
		json({mcpServers: Object.fromEntries(names.map(name => [name, {command}]))});
	home.put('.claude.json', servers('one'));
	home.put('.cursor/mcp.json', servers('other'));
	const {code, stderr} = await home.run('import');
	t.is(code, 0, stderr);
	for (const name of names)
		t.true(stderr.includes(`the server ${name} is imported as ${name}-2, since the name is already in use.`));
	t.notRegex(stderr, /Warning:/);
});
