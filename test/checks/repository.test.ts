import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {slowFiles} from '../runner/suites.js';

/* A clone must be complete: its tests and scripts need no files outside of it. */

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const skipped = new Set(['node_modules', 'dist', 'coverage', '.git']);

function filesIn(folder: string): string[] {
	return readdirSync(join(root, folder), {withFileTypes: true}).flatMap(item => {
		const path = join(folder, item.name);
		if (item.isDirectory()) return skipped.has(item.name) ? [] : filesIn(path);
		return [path];
	});
}

const isText = (file: string): boolean => !/(?:\.png|package-lock\.json)$/.test(file);

/**
 * The relative paths in a file that point outside of the repository, from the file's location at run time.
 */
function pathsOutside(file: string, text: string): string[] {
	const folder = resolve(root, file.endsWith('.ts') ? 'dist' : '.', dirname(file));
	const paths = [...text.matchAll(/(?<![\w./])(?:\.\.?\/)*\.\.\/[^'"`\s)]*/g)].map(([path]) => path);
	return paths.filter(path => relative(root, resolve(folder, path)).startsWith('..'));
}

/**
 * The mentions of a folder named shared next to the repository, however the path is composed. `pathsOutside` checks the
 * paths of imports.
 */
const mentionsOfShared = (text: string): string[] =>
	text
		.replace(/\bfrom '[^'\n]+';|\bimport\('[^'\n]+'\)/g, '')
		.match(/(?<!\.)\.\.(?!\.)(?:[^\w\n]|pwd)+shared\b(?!-)/g) ?? [];

/** Files whose paths are input for bridge, and not read. */
const attacks = ['test/run/escape.test.ts'];
/** CI adds the tests against the JSON schemas where this folder contains them. */
const adds = ['.ci/run'];

test('files contain no path outside of the repository [U-P0-6]', t => {
	const found = filesIn('.')
		.filter(file => isText(file) && ![...attacks, ...adds].includes(file))
		.flatMap(file => {
			const text = read(file);
			return [...pathsOutside(file, text), ...mentionsOfShared(text)].map(path => `${file}: ${path}`);
		});
	t.deepEqual(found, []);
});

test('finds a path that leads out of the repository', t => {
	const up = '../'.repeat(4);
	const folder = 'shared';
	const path = `${up}outside/file`;
	t.deepEqual(pathsOutside('test/helpers/x.ts', `new URL('${path}', import.meta.url)`), [path]);
	t.deepEqual(pathsOutside('test/deep/er/x.ts', `new URL('${path}', import.meta.url)`), []);
	t.deepEqual(pathsOutside('package.json', `"x": "cat ${path}"`), [path]);
	for (const text of [
		`readFileSync('${up}${folder}/x')`,
		`\${root}/${up}${folder}`,
		`join(root, '..', '${folder}')`,
		`"$(cd .. && pwd)/${folder}/x"`,
	])
		t.is(mentionsOfShared(text).length, 1, text);
	t.deepEqual(mentionsOfShared(`import '${up}${folder}-tools.js'; const x = {...${folder}};`), []);
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
