import {spawnSync} from 'node:child_process';
import {copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {tempFolder} from './store/temp-folder.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

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
	write('package-lock.json', '{}');
	write('lib/view/page/page.ts', 'export const page = 1;\n');
	write('lib/a.ts', 'export const a: number = 1;\n');
	write('lib/b.ts', 'export const b = 1;\n');
	write('bin/bridge.ts', "import {a} from '../lib/a.js';\nprocess.stdout.write(String(a));\n");
	const build = () => spawnSync(process.execPath, [at('build.mjs')], {encoding: 'utf8'});
	const runs = (): string =>
		spawnSync(process.execPath, [at('dist/bin/bridge.js')], {encoding: 'utf8'}).stdout;
	return {at, write, build, runs};
}

test('builds what changed, removes what is gone, and bundles the program anew', t => {
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

test('builds everything when the packages change', t => {
	const {at, write, build} = project(t);
	build();
	writeFileSync(at('dist/lib/a.js'), 'old');
	write('package-lock.json', '{"lockfileVersion": 3}');
	t.is(build().status, 0);
	t.regex(readFileSync(at('dist/lib/a.js'), 'utf8'), /a = 1/);
});

test('reports a syntax error with its place, and builds the file again once it is repaired', t => {
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
