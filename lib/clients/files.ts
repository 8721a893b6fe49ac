import {join} from 'node:path';
import {CLAUDE_DESKTOP, CLAUDE_STATE} from './kind.js';

/** Clients whose servers bridge can read. */
export const importable = ['claude', 'codex', 'cursor', 'vscode'] as const;
export type Importable = (typeof importable)[number];

/** The name of a client, for people. */
export const clientNames: {readonly [client in Importable]: string} = {
	claude: 'Claude',
	codex: 'Codex',
	cursor: 'Cursor',
	vscode: 'VS Code',
};

export type Places = {
	readonly cwd: string;
	readonly home: string;
	readonly env: {readonly [name: string]: string | undefined};
	readonly platform: string;
};

/** The files that a client reads its servers from, those of the user first. */
export function clientFiles(client: Importable, places: Places): string[] {
	const {cwd, home} = places;
	return {
		claude: [
			claudeState(places),
			join(cwd, '.mcp.json'),
			join(applicationData(places), 'Claude', CLAUDE_DESKTOP),
		],
		codex: [join(codexHome(places), 'config.toml'), join(cwd, '.codex', 'config.toml')],
		cursor: [join(home, '.cursor', 'mcp.json'), join(cwd, '.cursor', 'mcp.json')],
		vscode: [vscodeUserFile(places), join(cwd, '.vscode', 'mcp.json')],
	}[client];
}

/** The state of Claude Code, which has the servers of the user and of projects. */
export const claudeState = ({env, home}: Pick<Places, 'env' | 'home'>): string =>
	join(env.CLAUDE_CONFIG_DIR?.trim() || home, CLAUDE_STATE);

export const codexHome = ({env, home}: Pick<Places, 'env' | 'home'>): string =>
	env.CODEX_HOME?.trim() || join(home, '.codex');

/** The servers of VS Code for the user, in the default profile. */
export const vscodeUserFile = (places: Places): string =>
	join(applicationData(places), 'Code', 'User', 'mcp.json');

/** The folder in which desktop programs keep their settings. */
function applicationData({home, env, platform}: Places): string {
	if (platform === 'darwin') return join(home, 'Library', 'Application Support');
	if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData', 'Roaming');
	return env.XDG_CONFIG_HOME?.trim() || join(home, '.config');
}
