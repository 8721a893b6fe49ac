// The order of the folders: each imports only itself and the folders above it.
import {dirname} from 'node:path';
import {filesIn, importsOf, placeOf, read} from './sources.mjs';

/** The folders of `lib`, lowest layer first. A folder that is not listed counts as its parent. */
export const LAYERS = [
	'lib/util',
	'lib/wire',
	'lib/core',
	'lib/protocol',
	'lib/operators',
	'lib/http',
	'lib/files',
	'lib/transports',
	'lib/traffic-log',
	'lib/config',
	'lib/upstream',
	'lib/replay',
	'lib/run',
	'lib/hub',
	'lib/view',
	'lib/gateway',
	'lib/raw',
	'lib/serve',
	'lib/admin',
	'lib',
	'pipelines',
	'bin',
];

/** Loose files of `lib` that every layer may import: paths of files that are loaded at run time. */
const SHARED = ['lib/run-time-files.ts', 'lib/bridge-version.ts'];
const MAX_LOOSE_FILES = 3;

/** The position in `LAYERS` of the folder that a file belongs to; -1 where there is none. */
function layerOf(file) {
	if (SHARED.includes(file)) return 0;
	for (let folder = dirname(file); folder !== '.'; folder = dirname(folder))
		if (LAYERS.includes(folder)) return LAYERS.indexOf(folder);
	return -1;
}

/** The imports that point to a higher layer, and folders that have no layer. */
export function checkLayers(root) {
	const files = ['lib', 'pipelines', 'bin'].flatMap(folder => filesIn(root, folder));
	const sources = files.filter(file => !/\.(?:as|d)\.ts$/.test(file));
	const loose = sources.filter(file => dirname(file) === 'lib');
	const unlisted = new Set(
		sources
			.map(file => /^lib\/[^/]+(?=\/)/.exec(file)?.[0] ?? 'lib')
			.filter(folder => !LAYERS.includes(folder)),
	);
	return [
		...[...unlisted].map(
			folder => `${folder}: has no layer. Add it to LAYERS in checks/layers.mjs, or move its files.`,
		),
		...(loose.length > MAX_LOOSE_FILES
			? [`lib: has ${loose.length} loose files, at most ${MAX_LOOSE_FILES} are allowed: ${loose.join(', ')}.`]
			: []),
		...sources.flatMap(file => upwardImports(root, file)),
	];
}

function upwardImports(root, file) {
	const text = read(root, file);
	const layer = layerOf(file);
	return importsOf(file, text)
		.filter(({target}) => layerOf(target) > layer)
		.map(({target, at}) => {
			const [from, to] = [LAYERS[layer], LAYERS[layerOf(target)]];
			return `${placeOf(file, text, at)}: ${from} imports ${target}, but ${to} is a layer above it. Move one of the files, or pass what it needs as an argument.`;
		});
}
