import {existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {execute, manifest} from './execute.js';
import {expect} from './report.js';

const MIB = 2 ** 20;
const BLOCK_BYTES = 512;

/** Limits of node_modules, in MB as `du -m` counts them. */
const MAX_MB = {all: 75, withoutOptional: 50};

/** Makes a folder with a package.json, so that npm installs there. */
export function emptyProject(folder: string): string {
	mkdirSync(folder, {recursive: true});
	writeFileSync(join(folder, 'package.json'), '{"name": "consumer", "private": true, "type": "module"}\n');
	return folder;
}

/** Installs the tarball without development dependencies. Returns the size of node_modules. */
export async function install(
	tarball: string,
	folder: string,
	options: {readonly withoutOptional?: boolean} = {},
): Promise<string> {
	emptyProject(folder);
	const omit = options.withoutOptional ? ['--omit=dev', '--omit=optional'] : ['--omit=dev'];
	await execute('npm', ['install', ...omit, '--no-audit', '--no-fund', tarball], {cwd: folder});
	const modules = join(folder, 'node_modules');
	expect(
		existsSync(join(modules, '@antonz', 'python-wasi')) !== (options.withoutOptional ?? false),
		'The interpreter is installed exactly when optional dependencies are.',
	);
	return checkInstalledSize(modules, options.withoutOptional ? MAX_MB.withoutOptional : MAX_MB.all);
}

/** Checks the size of a folder, in MB as `du -m` counts them. */
export function checkInstalledSize(folder: string, limit = MAX_MB.all): string {
	const {files, disk} = sizeOf(folder);
	const size = `${Math.ceil(files / MIB)} MB of files, ${Math.ceil(disk / MIB)} MB on disk`;
	expect(Math.max(files, disk) < limit * MIB, `node_modules has ${size}, more than ${limit} MB.`);
	return size;
}

type Size = {readonly files: number; readonly disk: number};

/** The size of a folder, as `du --apparent-size` and `du` count it. */
function sizeOf(path: string): Size {
	const stats = lstatSync(path);
	const own = {files: stats.size, disk: stats.blocks * BLOCK_BYTES};
	if (!stats.isDirectory()) return own;
	return readdirSync(path)
		.map(name => sizeOf(join(path, name)))
		.reduce((sum, size) => ({files: sum.files + size.files, disk: sum.disk + size.disk}), own);
}

/** Runs both commands of the package with npx, as users do. */
export async function checkVersion(folder: string): Promise<string> {
	for (const name of ['mcp-bridge', 'bridge']) {
		const output = await execute('npx', ['--no-install', name, '--version'], {cwd: folder});
		expect(output.trim() === manifest.version, `${name} --version printed ${output.trim()}.`);
	}
	return manifest.version;
}

/** The installed program. */
export const programIn = (folder: string): string => join(folder, 'node_modules', '.bin', 'mcp-bridge');
