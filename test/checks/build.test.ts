import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {until} from '../helpers/program.js';
import {tempFolder} from '../helpers/temp-folder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A small project with the real build script. */
function project(t: ExecutionContext) {
	const folder = tempFolder(t);
	const at = (path: string): string => join(folder, path);
	const write = (path: string, text: string): void => {
		mkdirSync(dirname(at(path)), {recursive: true});
		writeFileSync(at(path), text);
	};
	copyFileSync(join(root, 'build.mjs'), at('build.mjs'));
	symlinkSync(join(root, 'node_modules'), at('node_modules'));
	write('tsconfig.json', '{}');
	write('lib/view/page/page.ts', 'export const page = 1;\n');
	write('lib/a.ts', 'export const a: number = 1;\n');
	write('lib/b.ts', 'export const b = 1;\n');
	write('bin/bridge.ts', "import {a} from '../lib/a.js';\nprocess.stdout.write(String(a));\n");
	const build = (...args: string[]) =>
		spawnSync(process.execPath, [at('build.mjs'), ...args], {encoding: 'utf8'});
	const runs = (): string =>
		spawnSync(process.execPath, [at('dist/bin/bridge.js')], {encoding: 'utf8'}).stdout;
	return {at, write, build, runs};
}

test('rebuilds changed sources, removes outputs of deleted ones and bundles the program', t => {
	const {at, write, build, runs} = project(t);
	t.is(build().status, 0);
	t.is(runs(), '1');
	// A file that is not built again keeps this text.
	writeFileSync(at('dist/lib/view/page/page.js'), 'kept');
	write('lib/a.ts', 'export const a: number = 2;\n');
	rmSync(at('lib/b.ts'));
	t.is(build().status, 0);
	t.is(runs(), '2');
	t.regex(readFileSync(at('dist/lib/a.js'), 'utf8'), /a = 2/);
	t.is(readFileSync(at('dist/lib/view/page/page.js'), 'utf8'), 'kept');
	t.false(existsSync(at('dist/lib/b.js')));
	rmSync(at('dist/lib/a.js'));
	t.is(build().status, 0);
	t.true(existsSync(at('dist/lib/a.js')));
});

test('rebuilds everything when tsconfig.json changes', t => {
	const {at, write, build} = project(t);
	build();
	writeFileSync(at('dist/lib/a.js'), 'old');
	write('tsconfig.json', '{"compilerOptions": {}}');
	t.is(build().status, 0);
	t.regex(readFileSync(at('dist/lib/a.js'), 'utf8'), /a = 1/);
});

test('reports a syntax error with file and line, and rebuilds the file after the fix', t => {
	const {write, build, runs} = project(t);
	build();
	write('lib/a.ts', 'export const a = ;\n');
	const {status, stderr} = build();
	t.is(status, 1);
	t.regex(stderr, /lib\/a\.ts:1:17/);
	t.notRegex(stderr, /at .*build\.mjs/);
	write('lib/a.ts', 'export const a = 3;\n');
	t.is(build().status, 0);
	t.is(runs(), '3');
});

test('rebuilds a source whose build failed, even after its old text is restored', t => {
	const {at, write, build} = project(t);
	build();
	write('lib/a.ts', "export * from './missing.js';\n");
	t.is(build().status, 1);
	write('lib/a.ts', 'export const a: number = 1;\n');
	t.is(build().status, 0);
	t.regex(readFileSync(at('dist/lib/a.js'), 'utf8'), /a = 1/);
});

test('removes the chunks of the previous build', t => {
	const {at, write, build, runs} = project(t);
	write('bin/bridge.ts', "const {a} = await import('../lib/a.js');\nprocess.stdout.write(String(a));\n");
	build();
	const before = readdirSync(at('dist/chunks'));
	write('lib/a.ts', 'export const a: number = 2;\n');
	build();
	const after = readdirSync(at('dist/chunks'));
	t.is(after.length, before.length);
	t.notDeepEqual(after, before);
	t.is(runs(), '2');
});

test('--release omits source maps, and the next build adds them again', t => {
	const {at, build, runs} = project(t);
	const hasMap = (): boolean => readFileSync(at('dist/bin/bridge.js'), 'utf8').includes('sourceMappingURL');
	build();
	t.true(hasMap());
	t.is(build('--release').status, 0);
	t.false(hasMap());
	t.is(runs(), '1');
	build();
	t.true(hasMap());
});

test('the program and the library share a module, which is bundled once', t => {
	const {at, write, build, runs} = project(t);
	write('lib/index.ts', "export {a} from './a.js';\n");
	write('package.json', '{"version": "1.2.3"}');
	write('lib/a.ts', "declare const BRIDGE_VERSION: string;\nexport const a = 'at ' + BRIDGE_VERSION;\n");
	t.is(build().status, 0);
	t.is(runs(), 'at 1.2.3');
	const files = [
		'bin/bridge.js',
		'lib/index.js',
		...readdirSync(at('dist/chunks')).map(name => `chunks/${name}`),
	];
	const texts = files
		.filter(file => file.endsWith('.js'))
		.map(file => readFileSync(at(`dist/${file}`), 'utf8'));
	t.is(texts.filter(text => text.includes('// lib/a.ts')).length, 1);
});

test('--watch rebuilds a source that is replaced, and exits with its parent', async t => {
	const {at, write} = project(t);
	const watch = spawn(process.execPath, [at('build.mjs'), '--watch'], {
		stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
	});
	t.teardown(() => watch.kill());
	const built = (text: string): boolean =>
		existsSync(at('dist/lib/a.js')) && readFileSync(at('dist/lib/a.js'), 'utf8').includes(text);
	await until(() => built('a = 1'));
	for (const text of ['a = 2', 'a = 3']) {
		write('lib/new.tmp', `export const ${text};\n`);
		renameSync(at('lib/new.tmp'), at('lib/a.ts'));
		await until(() => built(text));
	}
	const exited = once(watch, 'exit');
	watch.disconnect();
	t.deepEqual(await exited, [0, null]);
});
