import {shellQuote} from '../../util/shell-quote.js';
import {type ClientSnippet, formatClientJson, type SnippetClient} from './gateway-snippet.js';

type HubCommands = {
	/** The command for this machine only. */
	readonly local: readonly [string, ...string[]];
	/** The command for files that are shared with other machines. */
	readonly shared: readonly [string, ...string[]];
};

/** Returns the text that configures a client to start the hub. */
export function hubSnippet(
	client: SnippetClient,
	file: string | undefined,
	{local, shared}: HubCommands,
): ClientSnippet {
	const server = ([command, ...first]: HubCommands['local']): HubServer => ({
		command,
		args: [...first, 'hub', ...(file === undefined ? [] : ['--config', file])],
	});
	return hubSnippets[client](server(local), server(shared));
}

type HubServer = {readonly command: string; readonly args: readonly string[]};

const hubSnippets: {
	readonly [client in SnippetClient]: (own: HubServer, shared: HubServer) => ClientSnippet;
} = {
	codex: ({command, args}) => ({
		location: '~/.codex/config.toml',
		text: `[mcp_servers.hub]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
	}),
	claude: (own, shared) => ({
		location: '.mcp.json of a project',
		text: formatClientJson({mcpServers: {hub: {type: 'stdio', ...shared}}}),
		commands: [`claude mcp add hub -- ${[own.command, ...own.args].map(shellQuote).join(' ')}`],
	}),
	cursor: (_own, shared) => ({
		location: '.cursor/mcp.json',
		text: formatClientJson({mcpServers: {hub: shared}}),
	}),
	vscode: (_own, shared) => ({
		location: '.vscode/mcp.json',
		text: formatClientJson({servers: {hub: {type: 'stdio', ...shared}}}),
	}),
};
