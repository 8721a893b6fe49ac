import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {parseDuration} from '../../../lib/util/units.js';
import {configFixture} from '../../config/support.js';
import {runBridge} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';

const secrets = {
	BRIDGE_TOKEN: 'hunter2hunter2hunter2',
	BRIDGE_SECRET: 'hunter2hunter2hunter2',
	LEGACY_KEY: 'hunter2',
};
const env = {...process.env, ...secrets};

test.serial('Custom config path: loads the configuration from the path in --config [GW-12]', async t => {
	const cwd = await newFolder(t);
	await writeFile(join(cwd, 'bridge.yaml'), 'listen: 1');
	await writeFile(join(cwd, 'other.yaml'), 'listen: 2');
	const {code, stdout, stderr} = await runBridge(['config', '--config', 'other.yaml'], '', {cwd});
	t.is(code, 0);
	t.is(stderr, '');
	t.regex(stdout.join('\n'), /^# .*other\.yaml\nlisten: 127\.0\.0\.1:2 +# other\.yaml:1$/m);
});

test.serial('config finds the file in $BRIDGE_CONFIG, the working directory and the home folder', async t => {
	const cwd = await newFolder(t);
	const home = await newFolder(t);
	const listens = async (extra: NodeJS.ProcessEnv = {}): Promise<string | undefined> => {
		const {stdout} = await runBridge(['config'], '', {cwd, env: {...process.env, HOME: home, ...extra}});
		return stdout[1]?.split('  ')[0];
	};
	t.is(await listens(), 'listen: 127.0.0.1:7411');
	await mkdir(join(home, '.config/bridge'), {recursive: true});
	await writeFile(join(home, '.config/bridge/bridge.toml'), 'listen = 3');
	t.is(await listens(), 'listen: 127.0.0.1:3');
	await writeFile(join(cwd, 'bridge.json'), '{"listen": 4}');
	t.is(await listens(), 'listen: 127.0.0.1:4');
	await writeFile(join(cwd, 'x.yml'), 'listen: 5');
	t.is(await listens({BRIDGE_CONFIG: 'x.yml'}), 'listen: 127.0.0.1:5');
});

for (const name of ['whole.yaml', 'whole.json', 'whole.toml'])
	test.serial(
		`config --check ${name} prints the effective values, hides secrets and exits with 0 [K4]`,
		async t => {
			const file = join(await newFolder(t), name);
			await writeFile(file, await readFile(configFixture(name)), {mode: 0o600});
			const {code, stdout, stderr} = await runBridge(['config', '--check', file], '', {env});
			t.is(code, 0, stderr);
			t.is(stderr, '');
			const text = stdout.join('\n');
			t.false(text.includes('hunter2'));
			for (const word of ['[hidden]', 'targetVersion: 2024-11-05', '$BRIDGE_TOKEN', '# default'])
				t.true(text.includes(word), word);
		},
	);

test.serial(
	'config --check reports all errors on stderr, prints nothing on stdout and exits with 2',
	async t => {
		const cwd = await newFolder(t);
		await writeFile(join(cwd, 'b.yaml'), 'lisen: 1\nservers:\n  a: {command: x, tiemout: 3}\n  b: {}\n');
		const {code, stdout, stderr} = await runBridge(['config', '--check', 'b.yaml'], '', {cwd});
		t.is(code, 2);
		t.deepEqual(stdout, []);
		t.deepEqual(stderr.trimEnd().split('\n'), [
			'bridge: b.yaml has 3 mistakes:',
			'b.yaml:1: lisen: This key is not known. Did you mean listen?',
			'b.yaml:3: servers.a.tiemout: This key is not known. Did you mean timeout?',
			'b.yaml:4: servers.b: Expected a url or a command.',
			'bridge config --help lists the keys.',
		]);
	},
);

test.serial('config warns on stderr about probable errors and still prints the configuration', async t => {
	const cwd = await newFolder(t);
	await writeFile(join(cwd, 'bridge.yaml'), 'servers: {a: {url: "http://example.com/mcp"}}', {mode: 0o600});
	const {code, stdout, stderr} = await runBridge(['config'], '', {cwd});
	t.is(code, 0);
	t.regex(
		stderr,
		/^bridge: .*not trusted.*\nbridge: bridge\.yaml: servers\.a\.url: It is used as https:\/\/, .*insecure: true.*\n$/,
	);
	t.regex(stdout.join('\n'), /url: https:\/\/example\.com\/mcp /);
});

test.serial('config --help lists every usage with an example and exits with 0', async t => {
	const {code, stdout} = await runBridge(['config', '--help']);
	t.is(code, 0);
	for (const word of ['--config FILE', '--check FILE', 'BRIDGE_CONFIG', 'Example', 'bridge config --check'])
		t.true(stdout.join('\n').includes(word), word);
});

/** Invalid usages, and patterns for their errors. */
const wrong: ReadonlyArray<readonly [args: readonly string[], ...patterns: RegExp[]]> = [
	[['config', 'bridge.yaml'], /bridge\.yaml/, /--config bridge\.yaml/],
	[['config', '--', 'x'], /Unexpected argument "x" for bridge config/],
	[['config', '--check', 'none.yaml'], /none\.yaml/, /no such file/],
	[['config', '--config', 'none.yaml'], /none\.yaml/, /no such file/],
	[['config', '--check', 'a.yaml', '--config', 'b.yaml'], /--check and --config/],
	[['config', '--check'], /--check needs a value/],
	[['--config', 'x.yaml', '--', 'y'], /--config/],
	[['--check', 'x.yaml'], /--check/],
	[['versions', '--config', 'x.yaml', '--', 'y'], /--config/],
	[['confg'], /confg/, /Did you mean config\?/],
];
for (const [args, ...patterns] of wrong)
	test.serial(`rejects bridge ${args.join(' ')} with exit code 2`, async t => {
		const {code, stdout, stderr} = await runBridge(args, '', {cwd: await newFolder(t)});
		t.is(code, 2, stderr);
		t.deepEqual(stdout, []);
		for (const pattern of patterns) t.regex(stderr, pattern);
		t.is(stderr.trimEnd().split('\n').length, 1);
	});

test.serial('the default time limit of a run exceeds that of one call [A-G3]', async t => {
	const cwd = await newFolder(t);
	await writeFile(join(cwd, 'a.yaml'), 'servers:\n  a:\n    command: x\n');
	const {stdout} = await runBridge(['config', '--config', 'a.yaml'], '', {cwd});
	const shown = (key: string): number | undefined =>
		parseDuration(new RegExp(`^ *${key}: (\\S+)`, 'm').exec(stdout.join('\n'))?.[1] ?? '');
	t.is(shown('timeout'), 60_000);
	t.is(shown('runTimeout'), 90_000);
});
