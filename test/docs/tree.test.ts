import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {blocksOf, readPage, root} from './blocks.js';

const file = 'docs/architecture.md';
const page = readPage(file);

/** The folders that the page lists, with slashes at the end. */
const listed = [
	...(blocksOf(file, page)
		.find(({text}) => text.startsWith('lib/util/'))
		?.text.matchAll(/^(?:lib|bin|pipelines)\/\S*/gm) ?? []),
].map(([path]) => path);

test('docs/architecture.md lists the folders of lib in the order of their layers', async t => {
	const layers = (await import(new URL('../../../checks/layers.mjs', import.meta.url).href)) as {
		readonly LAYERS: readonly string[];
	};
	const folders = layers.LAYERS.filter(folder => folder !== 'lib').map(folder => `${folder}/`);
	t.deepEqual(listed, folders);
	const existing = readdirSync(join(root, 'lib'), {withFileTypes: true}).filter(entry => entry.isDirectory());
	t.deepEqual(
		existing.map(({name}) => `lib/${name}/`).filter(folder => !listed.includes(folder)),
		[],
	);
});

test('each file that docs/architecture.md names exists', t => {
	const names = [...page.matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|mjs))`/g)].map(([, name = '']) => name);
	t.true(names.length > 20);
	const places = ['', 'lib/', 'lib/gateway/', 'lib/transports/http-server/'];
	const exists = (name: string): boolean =>
		places.some(place => statSync(join(root, place, name), {throwIfNoEntry: false}) !== undefined);
	t.deepEqual(
		names.filter(name => !exists(name)),
		[],
	);
});

test('docs/architecture.md has at most 200 lines', t => {
	t.true(page.split('\n').length <= 200);
});
