import {createHash} from 'node:crypto';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {execute, root} from './execute.js';

/** The folder whose package.json lists a registry, a real MCP server and a workflow linter. */
const folder = join(root, 'test', 'package');
const stamp = join(folder, 'node_modules', '.installed');

/** A file of an installed package. */
export const peerFile = (path: string): string => join(folder, 'node_modules', path);

/** The official memory server. */
export const memoryServer = peerFile('@modelcontextprotocol/server-memory/dist/index.js');

/** Installs the packages unless the lock file is unchanged since the last installation. */
export async function installPeers(): Promise<string> {
	const lock = readFileSync(join(folder, 'package-lock.json'));
	const wanted = createHash('sha256').update(lock).digest('hex');
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return 'already installed';
	await execute('npm', ['ci', '--loglevel=error', '--no-progress'], {cwd: folder});
	writeFileSync(stamp, wanted);
	return 'installed';
}
