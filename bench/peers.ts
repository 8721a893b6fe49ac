import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {benchFolder} from './paths.js';

interface Manifest {
	version?: string;
	bin?: string | Record<string, string>;
	dependencies?: Record<string, string>;
}

const readManifest = (folder: string): Manifest | undefined => {
	const file = join(folder, 'package.json');
	return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined;
};
const packageFolder = (name: string): string => join(benchFolder, 'node_modules', name);

/** Installs the peers' own package on the first run of the bench. */
export const installPeers = (print: (line: string) => void): void => {
	const wanted = Object.entries(readManifest(benchFolder)?.dependencies ?? {});
	const missing = wanted.filter(([name, version]) => readManifest(packageFolder(name))?.version !== version);
	if (missing.length === 0) {
		return;
	}
	print(`installing the peers: npm ci in bench/ (${missing.map(([name]) => name).join(', ')})`);
	const npm = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
		cwd: benchFolder,
		stdio: ['ignore', 'ignore', 'inherit'],
		timeout: 300_000,
	});
	if (npm.status !== 0) {
		print('npm ci in bench/ failed. Missing peers are not measured');
	}
};

/** The program of a peer and its version, or undefined if it is not installed. */
export const findPeer = (name: string): {program: string; version: string} | undefined => {
	const manifest = readManifest(packageFolder(name));
	if (manifest === undefined) {
		return undefined;
	}
	const bin = typeof manifest.bin === 'string' ? manifest.bin : (manifest.bin?.[name] ?? '');
	return {program: join(packageFolder(name), bin), version: manifest.version ?? 'unknown'};
};
