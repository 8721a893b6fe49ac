// Builds dist/: `npm run build`. Types are not looked at here, which is what `npm run lint` does.
import {cpSync, existsSync, readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

process.chdir(fileURLToPath(new URL('.', import.meta.url)));
const PAGE = join('lib', 'view', 'page');
const DIST = 'dist';

/** What is TypeScript in a folder, but for the page's, for AssemblyScript and for packages. */
function sources(folder) {
	return readdirSync(folder, {withFileTypes: true}).flatMap(item => {
		const path = join(folder, item.name);
		if (item.isDirectory()) return item.name === 'node_modules' || path === PAGE ? [] : sources(path);
		return /(?<!\.as|\.d)\.ts$/.test(item.name) ? [path] : [];
	});
}

const common = {format: 'esm', logLevel: 'warning', outbase: '.', outdir: DIST};
const modules = ['lib', 'pipelines', 'bin', 'test', 'fixtures', 'bench'].filter(existsSync).flatMap(sources);
const pageFiles = readdirSync(PAGE);

rmSync(DIST, {recursive: true, force: true});
// Each file by itself: for the tests, for the fixtures, and for whoever imports a part of it.
await build({...common, entryPoints: modules, platform: 'node', target: 'node20', sourcemap: true});
// The page, which browsers load as it is.
await build({
	...common,
	entryPoints: pageFiles.filter(name => name.endsWith('.ts')).map(name => join(PAGE, name)),
	target: 'es2023',
});
for (const name of pageFiles.filter(name => /\.(?:html|css|svg)$/.test(name)))
	cpSync(join(PAGE, name), join(DIST, PAGE, name));
// The program, in few files: it starts in half the time.
await build({
	...common,
	entryPoints: ['bin/bridge.ts'],
	bundle: true,
	splitting: true,
	platform: 'node',
	target: 'node20',
	sourcemap: true,
	allowOverwrite: true,
	outbase: 'bin',
	outdir: join(DIST, 'bin'),
	chunkNames: 'chunks/[name]-[hash]',
	external: ['undici'],
	alias: {rxjs: './node_modules/rxjs/dist/esm/index.js'},
	banner: {
		js: "import {createRequire as bridgeRequire} from 'node:module'; const require = bridgeRequire(import.meta.url);",
	},
});
