import {readdirSync, readFileSync, statSync} from 'node:fs';
import {homedir} from 'node:os';
import {dirname, join, normalize} from 'node:path';
import {execute, root} from './execute.js';
import {expect} from './report.js';

const MAX_TARBALL_BYTES = 1.5e6;

/** Builds the tarball in a folder. Returns its path. */
export async function pack(folder: string): Promise<string> {
	const output = await execute('npm', ['pack', '--json', '--pack-destination', folder], {cwd: root});
	// The build scripts may print before the JSON.
	const [{filename}] = JSON.parse(output.slice(output.indexOf('[\n')));
	return join(folder, filename);
}

/** Unpacks the tarball. Returns the folder with the files of the package. */
export async function unpack(tarball: string, folder: string): Promise<string> {
	await execute('tar', ['-xzf', tarball, '-C', folder], {cwd: folder});
	return join(folder, 'package');
}

export function checkSize(tarball: string): string {
	const {size} = statSync(tarball);
	expect(size < MAX_TARBALL_BYTES, `The tarball has ${megabytes(size)}, more than 1.5 MB.`);
	return megabytes(size);
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;

/** Checks what is in the tarball and what is not. */
export function checkContents(folder: string): string {
	const files = filesIn(folder);
	const unwanted = files.filter(file => /\.(?:map|png|gif|jpe?g)$|\.test\.|(?<!\.d)\.ts$/.test(file));
	expect(unwanted.length === 0, `The tarball contains ${unwanted.join(', ')}.`);
	for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'dist/third-party-licenses.txt'])
		expect(files.includes(file), `The tarball lacks ${file}.`);
	const texts = files.map(file => [file, readFileSync(join(folder, file), 'utf8')] as const);
	checkPaths(texts);
	const modules = checkModules(texts);
	return `${files.length} files, ${modules} modules`;
}

function checkPaths(texts: ReadonlyArray<readonly [string, string]>): void {
	// The home folder of some system users is the root folder.
	const foreign = [root, join(homedir(), '/')].filter(path => path !== '/');
	for (const [file, text] of texts) {
		const path = foreign.find(prefix => text.includes(prefix));
		expect(path === undefined, `${file} contains the path ${path} of this machine.`);
		expect(!/^\/\/# sourceMappingURL=/m.test(text), `${file} refers to a source map.`);
	}
}

/** Checks that each module is in one file. esbuild writes the path of a module before its code. */
function checkModules(texts: ReadonlyArray<readonly [string, string]>): number {
	const places = new Map<string, Set<string>>();
	for (const [file, text] of texts.filter(([name]) => name.endsWith('.js')))
		for (const [, module = ''] of text.matchAll(
			/^\/\/ ((?:bin|lib|pipelines|node_modules)\/\S+\.(?:[cm]?js|ts))$/gm,
		))
			places.set(module, (places.get(module) ?? new Set()).add(file));
	for (const [module, files] of places)
		expect(
			files.size === 1,
			`${module} is in ${[...files].join(' and ')}: each module must be bundled once.`,
		);
	expect(
		places.has('lib/core/stage.ts'),
		'The bundle does not name its modules: build it without minification.',
	);
	return places.size;
}

/** Checks that links between the texts of the package lead to files of the package or of the repository. */
export function checkLinks(folder: string): string {
	const files = new Set(filesIn(folder));
	let count = 0;
	for (const file of [...files].filter(name => name.endsWith('.md') && name !== 'CHANGELOG.md')) {
		const text = withoutCode(readFileSync(join(folder, file), 'utf8'));
		for (const [, path = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)) {
			const target = normalize(join(dirname(file), path)).replace(/\/$/, '');
			const isHere = files.has(target) || isFile(join(root, target));
			expect(isHere, `${file} links to ${path}, which does not exist.`);
			count++;
		}
	}
	return `${count} links`;
}

/** The text without code blocks and code spans. */
const withoutCode = (text: string): string => text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');

const isFile = (path: string): boolean => statSync(path, {throwIfNoEntry: false}) !== undefined;

/** The paths of all files below a folder. */
export const filesIn = (folder: string): string[] =>
	readdirSync(folder, {recursive: true, encoding: 'utf8'}).filter(
		path => !statSync(join(folder, path)).isDirectory(),
	);
