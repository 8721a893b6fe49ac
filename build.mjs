// Builds dist/: `node build.mjs [--watch | --release]`. Only files that changed are built; types are checked by
// `npm run types`. `--release` omits source maps; the next build without it adds them again.
import {createHash} from 'node:crypto';
import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {setInterval} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

process.chdir(fileURLToPath(new URL('.', import.meta.url)));
const PAGE = join('lib', 'view', 'page');
const DIST = 'dist';
const PROGRAM = join('bin', 'bridge.ts');
/** The program, the library and the threads that they start. They share chunks: each module is in the package once. */
const ENTRIES = [
	PROGRAM,
	join('bin', 'demo-server.ts'),
	join('lib', 'index.ts'),
	join('lib', 'run', 'python', 'worker.ts'),
	join('lib', 'traffic-log', 'log-worker.ts'),
	join('lib', 'view', 'index-worker.ts'),
];
/** As deep as dist/bin and dist/lib: relative URLs of lib/run-time-files.ts are right in a chunk, too. */
const CHUNKS = join(DIST, 'chunks');
const isRelease = process.argv.includes('--release');
/** The hash of each source at the last build. */
const MANIFEST = join(DIST, '.sources.json');
/** The modules of each bundled file. */
const METAFILE = join(DIST, '.bundle.json');
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
const outputsOf = path => [outputOf(path), `${outputOf(path)}.map`];
const hashOf = path => createHash('sha256').update(readFileSync(path)).digest('hex');
const writeManifest = hashes => writeFileSync(MANIFEST, JSON.stringify(hashes));
/** A change to one of these rebuilds everything. */
const SETUP = [
	'build.mjs',
	'package.json',
	'tsconfig.json',
	join(PAGE, 'tsconfig.json'),
	join('node_modules', '.package-lock.json'),
];

function readManifest() {
	try {
		return JSON.parse(readFileSync(MANIFEST, 'utf8'));
	} catch {
		// The first build, or the manifest is damaged: nothing in the folder counts.
		rmSync(DIST, {recursive: true, force: true});
		return {};
	}
}

const common = {absWorkingDir: process.cwd(), format: 'esm', logLevel: 'warning', outbase: '.', outdir: DIST};
const node = {platform: 'node', target: 'node20', sourcemap: true};

/** The version that the bundle reports. */
const version = () => existsSync('package.json') && JSON.parse(readFileSync('package.json', 'utf8')).version;

/** Bundles the entries: a few files start in half the time of many. */
async function bundle() {
	const {metafile} = await build({
		...common,
		...node,
		sourcemap: !isRelease,
		entryPoints: ENTRIES.filter(existsSync),
		bundle: true,
		splitting: true,
		metafile: true,
		chunkNames: 'chunks/[name]-[hash]',
		alias: {rxjs: './node_modules/rxjs/dist/esm/index.js'},
		define: {BRIDGE_VERSION: JSON.stringify(version())},
		banner: {
			js: "import {createRequire as bridgeRequire} from 'node:module'; const require = bridgeRequire(import.meta.url);",
		},
	});
	if (isRelease) writeFileSync(METAFILE, JSON.stringify(metafile));
	// Old chunks are removed last: a running program may still load them.
	const current = new Set(Object.keys(metafile.outputs).map(path => join(path)));
	for (const name of existsSync(CHUNKS) ? readdirSync(CHUNKS) : [])
		if (!current.has(join(CHUNKS, name))) rmSync(join(CHUNKS, name));
}

async function buildChanged() {
	const before = readManifest();
	const paths = sources();
	const setup = SETUP.filter(existsSync);
	const after = Object.fromEntries([...setup, ...paths].map(path => [path, hashOf(path)]));
	const isNew = setup.some(path => before[path] !== after[path]);
	const changed = paths.filter(path => isNew || before[path] !== after[path] || !existsSync(outputOf(path)));
	const removed = Object.keys(before).filter(path => !(path in after));

	// Until the build succeeds, these count as changed, even if their old text comes back.
	mkdirSync(DIST, {recursive: true});
	writeManifest({...before, ...Object.fromEntries([...changed, ...removed].map(path => [path, '']))});
	for (const path of removed) for (const file of outputsOf(path)) rmSync(file, {force: true});
	const scripts = changed.filter(path => isScript(path) && !ENTRIES.includes(path));
	// Modules are also built one by one, for tests, fixtures and benchmarks.
	const modules = scripts.filter(path => !path.startsWith(PAGE));
	await build({...common, ...node, entryPoints: modules});
	// The page is not bundled: browsers load its modules.
	await build({...common, target: 'es2023', entryPoints: scripts.filter(path => path.startsWith(PAGE))});
	for (const path of changed.filter(isAsset)) cpSync(path, outputOf(path));
	if (isRelease || [...changed, ...removed].some(path => /^(?:lib|pipelines|bin)\b/.test(path)))
		await bundle();
	// A program without source maps counts as changed.
	writeManifest(isRelease ? {...after, [PROGRAM]: ''} : after);
}

/** Rebuilds when the size or mtime of a source changes. Polls, since `fs.watch` of Node 20 misses replaced files. */
async function watchSources() {
	const stateOf = path => {
		const {size, mtimeMs} = statSync(path, {throwIfNoEntry: false}) ?? {};
		return `${path} ${size} ${mtimeMs}`;
	};
	let last = '';
	for await (const _ of setInterval(500)) {
		try {
			const state = sources().map(stateOf).join();
			if (state === last) continue;
			last = state;
			await tryBuild();
		} catch {
			// A folder was removed while it was read: the next poll reads it again.
		}
	}
}

/** Returns whether the build succeeded. esbuild prints errors in sources itself. */
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
