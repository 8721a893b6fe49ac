// Builds dist/: `node build.mjs [--watch]`. Only files that changed are built; types are checked by `npm run types`.
import {createHash} from 'node:crypto';
import {cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {setInterval} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

process.chdir(fileURLToPath(new URL('.', import.meta.url)));
const PAGE = join('lib', 'view', 'page');
const DIST = 'dist';
const PROGRAM = join('bin', 'bridge.ts');
const CHUNKS = join(DIST, 'bin', 'chunks');
/** The hash of each source at the last build. */
const MANIFEST = join(DIST, '.sources.json');
const FOLDERS = ['lib', 'pipelines', 'bin', 'test', 'fixtures', 'bench'].filter(existsSync);

/** The files below a folder, without installed packages. */
function filesIn(folder) {
	return readdirSync(folder, {withFileTypes: true}).flatMap(item => {
		const path = join(folder, item.name);
		if (item.isDirectory()) return item.name === 'node_modules' ? [] : filesIn(path);
		return [path];
	});
}

/** All files that are built. */
const sources = () => FOLDERS.flatMap(filesIn).filter(path => isScript(path) || isAsset(path));

const isScript = path => /(?<!\.as|\.d)\.ts$/.test(path);
const isAsset = path => /\.(?:html|css|svg)$/.test(path) && path.startsWith(PAGE);
const outputOf = path => join(DIST, path.replace(/\.ts$/, '.js'));
const hashOf = path => createHash('sha256').update(readFileSync(path)).digest('hex');

function readManifest() {
	try {
		return JSON.parse(readFileSync(MANIFEST, 'utf8'));
	} catch {
		// There is no previous build that succeeded.
		rmSync(DIST, {recursive: true, force: true});
		return {};
	}
}

const common = {absWorkingDir: process.cwd(), format: 'esm', logLevel: 'warning', outbase: '.', outdir: DIST};
const node = {platform: 'node', target: 'node20', sourcemap: true};

/** The program in few files, which start in half the time of many. */
async function bundle() {
	const {metafile} = await build({
		...common,
		...node,
		entryPoints: [PROGRAM],
		bundle: true,
		splitting: true,
		metafile: true,
		outbase: 'bin',
		outdir: join(DIST, 'bin'),
		chunkNames: 'chunks/[name]-[hash]',
		external: ['undici'],
		alias: {rxjs: './node_modules/rxjs/dist/esm/index.js'},
		banner: {
			js: "import {createRequire as bridgeRequire} from 'node:module'; const require = bridgeRequire(import.meta.url);",
		},
	});
	// A program that runs keeps its chunks until the new ones are in place.
	const current = new Set(Object.keys(metafile.outputs).map(path => join(path)));
	for (const name of existsSync(CHUNKS) ? readdirSync(CHUNKS) : [])
		if (!current.has(join(CHUNKS, name))) rmSync(join(CHUNKS, name));
}

async function buildChanged() {
	const before = readManifest();
	const paths = sources();
	// Both decide what is made of every source.
	const setup = ['build.mjs', 'package-lock.json'];
	// Written at the end: an interrupted build is repeated.
	const after = Object.fromEntries([...setup, ...paths].map(path => [path, hashOf(path)]));
	const isNew = setup.some(path => before[path] !== after[path]);
	const changed = paths.filter(path => isNew || before[path] !== after[path] || !existsSync(outputOf(path)));
	const removed = Object.keys(before).filter(path => !(path in after));

	for (const path of removed)
		for (const file of [outputOf(path), `${outputOf(path)}.map`]) rmSync(file, {force: true});
	const scripts = changed.filter(path => isScript(path) && path !== PROGRAM);
	// Each module by itself, for tests, fixtures and programs that import a part of bridge.
	const modules = scripts.filter(path => !path.startsWith(PAGE));
	await build({...common, ...node, entryPoints: modules});
	// The page, which browsers load as it is.
	await build({...common, target: 'es2023', entryPoints: scripts.filter(path => path.startsWith(PAGE))});
	for (const path of changed.filter(isAsset)) cpSync(path, outputOf(path));
	if ([...changed, ...removed].some(path => /^(?:lib|pipelines|bin)\b/.test(path))) await bundle();
	writeFileSync(MANIFEST, JSON.stringify(after));
}

/** Builds again when the size or time of a source changes. It polls: `fs.watch` of Node 20 loses replaced files. */
async function watchSources() {
	const state = () =>
		sources()
			.map(path => [path, statSync(path, {throwIfNoEntry: false})])
			.map(([path, stats]) => `${path} ${stats?.size} ${stats?.mtimeMs}`)
			.join();
	let last = state();
	for await (const _ of setInterval(500)) {
		const current = state();
		if (current === last) continue;
		last = current;
		await tryBuild();
	}
}

/** Whether the build succeeded. esbuild has printed what is wrong with a source. */
const tryBuild = () =>
	buildChanged().then(
		() => true,
		error => {
			if (!error.errors) process.stderr.write(`${error.stack}\n`);
			return false;
		},
	);

if (process.argv.includes('--watch')) {
	process.on('disconnect', () => process.exit());
	await watchSources();
} else {
	process.exitCode = (await tryBuild()) ? 0 : 1;
}
