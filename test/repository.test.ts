import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {slowFiles} from './runner/suites.js';

/* A clone has to be complete: its tests and scripts need nothing from outside of it. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const skipped = new Set(['node_modules', 'dist', 'coverage', '.git']);

function filesIn(folder: string): string[] {
	return readdirSync(join(root, folder), {withFileTypes: true}).flatMap(item => {
		const path = join(folder, item.name);
		if (item.isDirectory()) return skipped.has(item.name) ? [] : filesIn(path);
		return [path];
	});
}

const isCode = (file: string): boolean => /(?:\.(?:[cm]?[jt]s|json|sh)|Dockerfile)$/.test(file);

/** The relative paths in a file that lead out of the repository from where the file is when it runs. */
function pathsOutside(file: string, text: string): string[] {
	const folder = resolve(root, file.endsWith('.ts') ? 'dist' : '.', dirname(file));
	const paths = [...text.matchAll(/(?<![\w./])(?:\.\.?\/)*\.\.\/[^'"`\s)]*/g)].map(([path]) => path);
	return paths.filter(path => relative(root, resolve(folder, path)).startsWith('..'));
}

/** Files whose paths are input for bridge, and not read. */
const attacks = new Set(['test/run/escape.test.ts']);

test('no test and no script names a path outside of the repository', t => {
	const found = filesIn('.')
		.filter(file => isCode(file) && !attacks.has(file))
		.flatMap(file => pathsOutside(file, read(file)).map(path => `${file}: ${path}`));
	t.deepEqual(found, []);
});

test('finds a path that leads out of the repository', t => {
	const path = `${'../'.repeat(4)}outside/file`;
	t.deepEqual(pathsOutside('test/helpers/x.ts', `new URL('${path}', import.meta.url)`), [path]);
	t.deepEqual(pathsOutside('test/deep/er/x.ts', `new URL('${path}', import.meta.url)`), []);
	t.deepEqual(pathsOutside('package.json', `"x": "cat ${path}"`), [path]);
});

test('every file of the list of slow tests exists', t => {
	t.deepEqual(
		slowFiles.filter(file => !existsSync(join(root, file))),
		[],
	);
});

test('the Dockerfile copies only files that exist and that .dockerignore does not exclude', t => {
	const ignored = new Set(read('.dockerignore').split('\n'));
	const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
		names.split(' '),
	);
	t.true(copied.length > 1);
	for (const name of copied) {
		t.true(existsSync(join(root, name)), name);
		t.false(ignored.has(name.split('/')[0] ?? ''), name);
	}
});

test('CI runs the test command of the README', t => {
	const [, command = ''] = /^(npm .*npm test)\b/m.exec(read('README.md')) ?? [];
	t.is(command, 'npm ci && npm test');
	t.true(read('.ci/run').includes(command));
});
