import {spawnSync} from 'node:child_process';
import {copyFile, mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import test from 'ava';

const RULE = 'lint/style/noRestrictedImports';
const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));
const rules = fileURLToPath(new URL('../../biome.json', import.meta.url));

/** Every way to start a program or to open an address that a module of Node or of npm has. */
const planted = [
	"import {spawn} from 'node:child_process';\nexport const x = spawn;\n",
	"import {execFile} from 'child_process';\nexport const x = execFile;\n",
	"import spawn from 'cross-spawn';\nexport const x = spawn;\n",
	"import open from 'open';\nexport const x = open;\n",
	"export const x = await import('node:child_process');\n",
];

/** The files that the rule finds something in. */
function faulty(folder: string): Set<string> {
	const {stdout, stderr} = spawnSync(
		biome,
		['lint', '--only=style/noRestrictedImports', '--max-diagnostics=none', '.'],
		{
			cwd: folder,
			encoding: 'utf8',
			env: {...process.env, NO_COLOR: '1'},
		},
	);
	const found = `${stdout}${stderr}`.matchAll(/^(\S+?):\d+:\d+ (\S+)/gm);
	return new Set([...found].filter(([, , rule]) => rule === RULE).map(([, file = '']) => file));
}

test('D15 only the one transport that is for it may start a program, and nobody opens an address', async t => {
	const folder = await mkdtemp(join(tmpdir(), 'bridge-lint-'));
	t.teardown(() => rm(folder, {recursive: true}));
	await copyFile(rules, join(folder, 'biome.json'));
	const places = ['lib', 'lib/gateway', 'lib/operators', 'lib/protocol', 'bin', 'pipelines'];
	const files = places.flatMap(place =>
		planted.map((text, at) => [`${place}/planted-${at}.ts`, text] as const),
	);
	const fine = "import type {ChildProcess} from 'node:child_process';\nexport type X = ChildProcess;\n";
	for (const [file, text] of [
		...files,
		['lib/transports/child.ts', planted[2] ?? ''],
		['lib/transports/lifetime.ts', fine],
	] as const) {
		await mkdir(dirname(join(folder, file)), {recursive: true});
		await writeFile(join(folder, file), text);
	}
	const found = faulty(folder);
	t.is(found.size, files.length);
	for (const [file] of files) t.true(found.has(file), file);
});

/** What holds messages without a limit. */
const holding = [
	'mergeMap',
	'concatMap',
	'ReplaySubject',
	'buffer',
	'shareReplay',
	'delay',
	'groupBy',
	'zip',
];

test('F4 no stage uses what holds messages without a limit', async t => {
	const folder = await mkdtemp(join(tmpdir(), 'bridge-lint-'));
	t.teardown(() => rm(folder, {recursive: true}));
	await copyFile(rules, join(folder, 'biome.json'));
	await mkdir(join(folder, 'lib/operators'), {recursive: true});
	for (const name of holding)
		await writeFile(
			join(folder, `lib/operators/${name}.ts`),
			`import {${name}} from 'rxjs';\nexport const x = ${name};\n`,
		);
	await writeFile(
		join(folder, 'lib/operators/fine.ts'),
		"import {map} from 'rxjs';\nexport const x = map;\n",
	);
	const wanted = holding.map(name => `lib/operators/${name}.ts`);
	const found = faulty(folder);
	t.is(found.size, wanted.length);
	for (const file of wanted) t.true(found.has(file), file);
});
