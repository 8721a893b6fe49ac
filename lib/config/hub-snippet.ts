import type {Client} from './clients.js';

/** What to write into a client's configuration, and where, to have it start the hub with this file. */
export function hubSnippet(client: Client, file: string | undefined): string {
	const args = ['hub', ...(file === undefined ? [] : ['--config', file])];
	const server = {command: 'bridge', args};
	return snippets[client](server);
}

type Server = {readonly command: string; readonly args: readonly string[]};

const snippets: {readonly [client in Client]: (server: Server) => string} = {
	codex: ({command, args}) =>
		`# ~/.codex/config.toml\n[mcp_servers.hub]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
	claude: ({command, args}) =>
		`# .mcp.json of a project\n${json({mcpServers: {hub: {type: 'stdio', command, args}}})}\n# or, for yourself alone:\nclaude mcp add hub -- ${[command, ...args].map(quoted).join(' ')}\n`,
	cursor: ({command, args}) => `# .cursor/mcp.json\n${json({mcpServers: {hub: {command, args}}})}`,
	vscode: ({command, args}) =>
		`# .vscode/mcp.json\n${json({servers: {hub: {type: 'stdio', command, args}}})}`,
};

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
	/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
