import {join} from 'node:path';
import {CLAUDE_DESKTOP_FILE, CLAUDE_STATE_FILE} from '../../config/client-formats/client-format.js';

/** Clients whose server configuration bridge can import. */
export const importableClients = ['claude', 'codex', 'cursor', 'vscode'] as const;
export type ImportableClient = (typeof importableClients)[number];

/** The display names of the clients. */
export const clientNames: {readonly [client in ImportableClient]: string} = {
	claude: 'Claude',
	codex: 'Codex',
	cursor: 'Cursor',
	vscode: 'VS Code',
};

type ClientFileContext = {
	readonly cwd: string;
	readonly home: string;
	readonly env: {readonly [name: string]: string | undefined};
	readonly platform: string;
};

/** The files that a client reads its servers from, user files first. */
export function clientFiles(client: ImportableClient, context: ClientFileContext): string[] {
	const {cwd, home} = context;
	return {
		claude: [
			claudeStatePath(context),
			join(cwd, '.mcp.json'),
			join(applicationData(context), 'Claude', CLAUDE_DESKTOP_FILE),
		],
		codex: [join(codexHome(context), 'config.toml'), join(cwd, '.codex', 'config.toml')],
		cursor: [join(home, '.cursor', 'mcp.json'), join(cwd, '.cursor', 'mcp.json')],
		vscode: [vscodeUserFile(context), join(cwd, '.vscode', 'mcp.json')],
	}[client];
}

/** The state file of Claude Code, with the servers of the user and of projects. */
export const claudeStatePath = ({env, home}: Pick<ClientFileContext, 'env' | 'home'>): string =>
	join(env.CLAUDE_CONFIG_DIR?.trim() || home, CLAUDE_STATE_FILE);

export const codexHome = ({env, home}: Pick<ClientFileContext, 'env' | 'home'>): string =>
	env.CODEX_HOME?.trim() || join(home, '.codex');

/** The user's server file of VS Code, in the default profile. */
export const vscodeUserFile = (context: ClientFileContext): string =>
	join(applicationData(context), 'Code', 'User', 'mcp.json');

/** The folder in which desktop applications store their settings. */
function applicationData({home, env, platform}: ClientFileContext): string {
	if (platform === 'darwin') return join(home, 'Library', 'Application Support');
	if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData', 'Roaming');
	return env.XDG_CONFIG_HOME?.trim() || join(home, '.config');
}
