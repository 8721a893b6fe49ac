import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {blocksOf, readPage, root} from './blocks.js';

const file = 'docs/architecture.md';

/** The paths that a tree names, folders with a slash at the end. Two spaces indent a level, and two end the names of a line. */
function pathsIn(tree: string): string[] {
	const folders: string[] = [];
	return tree.split('\n').flatMap(line => {
		const [, indent = '', names = ''] = /^( *)(\S+(?: \S+)*)/.exec(line) ?? [];
		const depth = indent.length / 2;
		const paths = names.split(' ').map(name => [...folders.slice(0, depth), name].join(''));
		if (names.endsWith('/')) folders.splice(depth, folders.length, names);
		return paths;
	});
}

/** The folders below a folder, and itself, with slashes at the end. */
const foldersIn = (folder: string): string[] => [
	folder,
	...readdirSync(join(root, folder), {withFileTypes: true})
		.filter(entry => entry.isDirectory())
		.flatMap(({name}) => foldersIn(`${folder}${name}/`)),
];

function typeOf(path: string): 'folder' | 'file' | undefined {
	const stats = statSync(join(root, path), {throwIfNoEntry: false});
	if (!stats) return undefined;
	return stats.isDirectory() ? 'folder' : 'file';
}

const tree =
	blocksOf(file, readPage(file))
		.find(({text}) => text.startsWith('bin/'))
		?.text.trimEnd() ?? '';
const paths = pathsIn(tree);

test('reads the paths of a tree', t => {
	t.deepEqual(pathsIn('a/\n  b.ts c.ts  two files\n  d/  a folder\n    e.ts\n  f/ g/\nh/'), [
		'a/',
		'a/b.ts',
		'a/c.ts',
		'a/d/',
		'a/d/e.ts',
		'a/f/',
		'a/g/',
		'h/',
	]);
});

test('each path in the tree of docs/architecture.md exists', t => {
	t.true(paths.length > 100);
	t.deepEqual(
		paths.filter(path => typeOf(path) !== (path.endsWith('/') ? 'folder' : 'file')),
		[],
	);
});

test('the tree of docs/architecture.md has each folder of bin, pipelines and lib', t => {
	const folders = ['bin/', 'pipelines/', 'lib/'].flatMap(foldersIn);
	t.deepEqual(
		folders.filter(folder => !paths.includes(folder)),
		[],
	);
});

test('the tree of docs/architecture.md has each stage and each pipeline', t => {
	const files = ['pipelines/', 'lib/operators/'].flatMap(folder =>
		readdirSync(join(root, folder)).map(name => `${folder}${name}`),
	);
	t.deepEqual(
		files.filter(path => !paths.includes(path)),
		[],
	);
});
