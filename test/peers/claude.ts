import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import type {ExecutionContext} from 'ava';
import {type Command, peerUrl, temporaryFolder} from './peers.js';

/** The native program of Claude Code. The npm launcher needs another Node version. */
const program = fileURLToPath(peerUrl(`@anthropic-ai/claude-code-linux-${process.arch}/claude`));

export type ClaudeServer = Command | {readonly type: 'http'; readonly url: string};

/**
 * Connects the real Claude Code to MCP servers with `claude mcp list`. Returns the output line of each by
 * name. Its home has only these servers and no credentials.
 */
export async function claudeList(
	t: Pick<ExecutionContext, 'teardown'>,
	servers: Readonly<Record<string, ClaudeServer>>,
): Promise<ReadonlyMap<string, string>> {
	const home = await temporaryFolder(t);
	await writeFile(join(home, '.claude.json'), JSON.stringify({mcpServers: servers}));
	const env = {
		HOME: home,
		PATH: process.env.PATH ?? '',
		NO_COLOR: '1',
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
		DISABLE_AUTOUPDATER: '1',
	};
	const {stdout} = await promisify(execFile)(program, ['mcp', 'list'], {cwd: home, env});
	const names = Object.keys(servers);
	const lines = stdout.split('\n');
	return new Map(names.map(name => [name, lines.find(line => line.startsWith(`${name}:`)) ?? stdout]));
}
