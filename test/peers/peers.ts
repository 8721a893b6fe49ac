import {mkdtemp, realpath, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import {endAfterwards} from './processes.js';

/** The command of a stdio server, as in the configuration of an MCP client. */
export interface Command {
	readonly command: string;
	readonly args: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
}

// This file runs as dist/test/peers/peers.js; the packages are next to the sources.
export const peersFolder = new URL('../../../test/peers/', import.meta.url);

/** The program under test. */
export const bridgeFile =
	process.env.BRIDGE_BIN ?? fileURLToPath(new URL('../../bin/bridge.js', import.meta.url));

/** The URL of a file of an installed peer, such as `@modelcontextprotocol/sdk/dist/esm/client/index.js`. */
export function peerUrl(path: string): URL {
	return new URL(`node_modules/${path}`, peersFolder);
}

/** The Node 24 of the peers, independent of the Node that runs the tests. */
export const node24 = fileURLToPath(peerUrl(`node24-${process.platform}-${process.arch}/bin/node`));

export const inspectorFile = fileURLToPath(
	peerUrl('@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
);

/** The Inspector's other command line, which connects once for many commands. */
export const mcpdoFile = fileURLToPath(
	peerUrl('@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js'),
);

export function serverFile(name: 'everything' | 'filesystem' | 'memory'): string {
	return fileURLToPath(peerUrl(`@modelcontextprotocol/server-${name}/dist/index.js`));
}

/** The everything server ignores further arguments, so `marker` identifies its process in /proc. */
export function everything(marker: string, node = process.execPath): Command {
	return {command: node, args: [serverFile('everything'), 'stdio', marker]};
}

/** The same server behind `bridge -- …`, which passes its environment with `--env`. */
export function throughBridge(server: Command, node = process.execPath): Command {
	const env = Object.entries(server.env ?? {}).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
	return {command: node, args: [bridgeFile, ...env, '--', server.command, ...server.args]};
}

/** Creates a temporary folder. Its unique name also serves as a marker in /proc. */
export async function temporaryFolder(t: Pick<ExecutionContext, 'teardown'>): Promise<string> {
	// Servers report real paths, and on some systems the temporary folder is a link.
	const folder = await realpath(await mkdtemp(join(tmpdir(), 'bridge-peers-')));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	endAfterwards(t, folder);
	return folder;
}
