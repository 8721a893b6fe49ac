import {spawnSync} from 'node:child_process';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';

const checks = fileURLToPath(new URL('../../../checks/main.mjs', import.meta.url));

type Files = ReadonlyArray<readonly [file: string, text: string]>;

/** The problems that the checks report for these files, one per line. */
async function problemsIn(t: ExecutionContext, files: Files): Promise<string[]> {
	const folder = await mkdtemp(join(tmpdir(), 'bridge-lint-'));
	t.teardown(() => rm(folder, {recursive: true}));
	for (const [file, text] of files) {
		await mkdir(dirname(join(folder, file)), {recursive: true});
		await writeFile(join(folder, file), text);
	}
	const {status, stderr} = spawnSync(process.execPath, [checks, folder], {encoding: 'utf8'});
	const problems = stderr.split('\n').filter(line => /^[^:\s]+(?::\d+)?: /.test(line));
	t.is(status, problems.length > 0 ? 1 : 0, stderr);
	return problems;
}

/** The files with a problem whose text matches. */
const filesWith = (problems: readonly string[], pattern: RegExp): Set<string> =>
	new Set(problems.filter(line => pattern.test(line)).map(line => line.split(':', 1)[0] ?? ''));

/** The ways to start a program or to connect to an address with a module of Node or npm. */
const starts = [
	"import {spawn} from 'node:child_process';\nexport const x = spawn;\n",
	"import {execFile} from 'child_process';\nexport const x = execFile;\n",
	"import spawn from 'cross-spawn';\nexport const x = spawn;\n",
	"import open from 'open';\nexport const x = open;\n",
	"export const x = await import('node:child_process');\n",
	"export {spawn} from 'node:child_process';\n",
];

test('only the process transport may start programs [D15]', async t => {
	const folders = ['lib', 'lib/gateway', 'lib/operators', 'lib/protocol', 'bin', 'pipelines'];
	const planted = folders.flatMap(folder => starts.map((text, at) => [`${folder}/x${at}.ts`, text] as const));
	const type = "import type {ChildProcess} from 'node:child_process';\nexport type X = ChildProcess;\n";
	const problems = await problemsIn(t, [
		...planted,
		['lib/transports/process/child.ts', starts[2] ?? ''],
		['lib/transports/process/lifetime.ts', type],
	]);
	t.deepEqual([...filesWith(problems, / start programs/)].sort(), planted.map(([file]) => file).sort());
});

const unbounded = [
	'mergeMap',
	'concatMap',
	'ReplaySubject',
	'buffer',
	'shareReplay',
	'delay',
	'groupBy',
	'zip',
];

test('stages may not use an operator that buffers messages without a limit [F4]', async t => {
	const planted = ['lib/operators', 'lib/serve/stages'].flatMap(folder =>
		unbounded.map(
			name =>
				[
					`${folder}/${name.toLowerCase()}.ts`,
					`import {${name}} from 'rxjs';\nexport const x = ${name};\n`,
				] as const,
		),
	);
	const bounded = "import {map} from 'rxjs';\nexport const x = map;\n";
	const problems = await problemsIn(t, [...planted, ['lib/operators/map.ts', bounded]]);
	t.deepEqual([...filesWith(problems, /without a limit/)].sort(), planted.map(([file]) => file).sort());
});

test('a folder may import only itself and lower layers', async t => {
	const value = (name: string): string => `export const ${name} = 1;\n`;
	const problems = await problemsIn(t, [
		[
			'lib/core/high.ts',
			"import {low} from '../util/low.js';\nimport {gate} from '../gateway/gate.js';\nlow + gate;\n",
		],
		['lib/util/low.ts', value('low')],
		[
			'lib/gateway/gate.ts',
			`import type {X} from '../../pipelines/wrap.js';\n${value('gate')}export type Y = X;\n`,
		],
		['pipelines/wrap.ts', 'export type X = 1;\n'],
		['lib/elsewhere/a.ts', value('a')],
		...['b', 'c', 'd', 'e'].map(name => [`lib/${name}.ts`, value(name)] as const),
	]);
	const layers = problems.filter(line => !/which no file imports/.test(line));
	t.is(layers.length, 4, layers.join('\n'));
	t.regex(layers.join('\n'), /lib\/core\/high\.ts:2: lib\/core imports lib\/gateway\/gate\.ts/);
	t.regex(layers.join('\n'), /lib\/gateway\/gate\.ts:1: lib\/gateway imports pipelines\/wrap\.ts/);
	t.regex(layers.join('\n'), /lib\/elsewhere: has no layer/);
	t.regex(layers.join('\n'), /lib: has 4 loose files/);
});

test('an exported name is unique, and some file imports it', async t => {
	const problems = await problemsIn(t, [
		['lib/util/a.ts', 'export const twice = 1;\nexport type Unused = 1;\n'],
		['lib/util/b.ts', "import {twice as other} from './a.js';\nexport const twice = other;\n"],
		['lib/util/c.ts', "import {twice} from './b.js';\ntwice;\n"],
	]);
	t.is(problems.length, 2, problems.join('\n'));
	t.regex(problems[0] ?? '', /lib\/util\/a\.ts:1: exports twice, as lib\/util\/b\.ts:2 does/);
	t.regex(problems[1] ?? '', /lib\/util\/a\.ts:2: exports Unused, which no file imports/);
});

test('comments, messages, titles and pages use the words of the glossary', async t => {
	const problems = await problemsIn(t, [
		['lib/util/a.ts', '/** Tells who asked. */\nconst answer = 1;\nanswer;\n'],
		['test/a.test.ts', "test('nobody is told', () => {});\ntest('sends an answer', () => {});\n"],
		['docs/a.md', 'A `told` in code is data.\n\n```\ntold\n```\n\nThe client is told.\n'],
	]);
	t.deepEqual(
		problems.map(line => /^(\S+): "(\w+)"/.exec(line)?.slice(1).join(' ')),
		['lib/util/a.ts:1 Tells', 'test/a.test.ts:1 told', 'test/a.test.ts:2 answer', 'docs/a.md:7 told'],
	);
});

test('each requirement has a test or a reason, and each cited id is a requirement', async t => {
	const problems = await problemsIn(t, [
		[
			'checks/requirements.txt',
			'# Group\n\nX-1: Does this.\nX-2: Does that.\nX-3: Is fast. (no test: measured)\n',
		],
		['docs/requirements.md', ''],
		['test/a.test.ts', [1, 9].map(id => `test('does ${id} [X-${id}]', () => {});\n`).join('')],
	]);
	t.is(problems.length, 3, problems.join('\n'));
	t.regex(problems.join('\n'), /no title ends with \[X-2\]/);
	t.regex(problems.join('\n'), /test\/a\.test\.ts:2: \[X-9\] is not in/);
	t.regex(problems.join('\n'), /docs\/requirements\.md: is not up to date/);
});
