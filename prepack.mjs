// Completes dist/ for the package, after `node build.mjs --release`: declarations of the library, licenses of bundled code.
import {spawnSync} from 'node:child_process';
import {readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const types = join(root, 'dist', 'types');

/** Removes declarations that those of the library do not import. */
function pruneDeclarations() {
	const used = new Set();
	const follow = file => {
		if (used.has(file)) return;
		used.add(file);
		for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g))
			follow(resolve(dirname(file), `${path}.d.ts`));
	};
	follow(join(types, 'index.d.ts'));
	for (const name of readdirSync(types, {recursive: true})) {
		const file = join(types, name);
		if (name.endsWith('.ts') && !used.has(file)) rmSync(file);
	}
}

/** The folders of the packages whose modules are bundled. */
function bundledPackages() {
	const {outputs} = JSON.parse(readFileSync(join(root, 'dist', '.bundle.json'), 'utf8'));
	const modules = Object.values(outputs).flatMap(({inputs}) => Object.keys(inputs));
	const folders = modules.flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
	return [...new Set(folders)].sort();
}

/** The name, version and license of a package. */
function licenseOf(folder) {
	const path = join(root, folder);
	const {name, version, license} = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
	const file = readdirSync(path).find(item => /^licen[cs]e/i.test(item));
	const text = file === undefined ? '' : `\n\n${readFileSync(join(path, file), 'utf8').trim()}`;
	return `${name} ${version} (${license})${text}\n`;
}

rmSync(types, {recursive: true, force: true});
const tsc = join(root, 'node_modules', '.bin', 'tsc');
const {status} = spawnSync(tsc, ['-p', 'tsconfig.types.json'], {cwd: root, stdio: 'inherit'});
if (status !== 0) process.exit(1);
pruneDeclarations();
const licenses = bundledPackages()
	.map(licenseOf)
	.join(`\n${'-'.repeat(80)}\n\n`);
writeFileSync(
	join(root, 'dist', 'third-party-licenses.txt'),
	`The files in ${relative(root, join(root, 'dist', 'chunks'))} include code of these packages.\n\n${licenses}`,
);
