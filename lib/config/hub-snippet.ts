import {type Client, jsonText, type Snippet} from './clients.js';

export type HubCommands = {
	/** The command that runs bridge on this machine. */
	readonly own: readonly [string, ...string[]];
	/** The one for files that are shared with other machines. */
	readonly shared: readonly [string, ...string[]];
};

/** What to write into a client's configuration, and where, to have it start the hub with a configuration file. */
export function hubSnippet(client: Client, file: string | undefined, {own, shared}: HubCommands): Snippet {
	const server = ([command, ...first]: HubCommands['own']): Server => ({
		command,
		args: [...first, 'hub', ...(file === undefined ? [] : ['--config', file])],
	});
	return snippets[client](server(own), server(shared));
}

type Server = {readonly command: string; readonly args: readonly string[]};

const snippets: {readonly [client in Client]: (own: Server, shared: Server) => Snippet} = {
	codex: ({command, args}) => ({
		place: '~/.codex/config.toml',
		text: `[mcp_servers.hub]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
	}),
	claude: (own, shared) => ({
		place: '.mcp.json of a project',
		text: jsonText({mcpServers: {hub: {type: 'stdio', ...shared}}}),
		commands: [`claude mcp add hub -- ${[own.command, ...own.args].map(quoted).join(' ')}`],
	}),
	cursor: (_own, shared) => ({place: '.cursor/mcp.json', text: jsonText({mcpServers: {hub: shared}})}),
	vscode: (_own, shared) => ({
		place: '.vscode/mcp.json',
		text: jsonText({servers: {hub: {type: 'stdio', ...shared}}}),
	}),
};

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
	/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
