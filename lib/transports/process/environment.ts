import {existsSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import process from 'node:process';

/** The allow-list: variables that programs need to run and that rarely hold secrets. */
const allowedVariables = new Set([
	'PATH',
	'HOME',
	'USER',
	'LOGNAME',
	'SHELL',
	'TERM',
	'LANG',
	'LANGUAGE',
	'TZ',
	'TMPDIR',
	'TMP',
	'TEMP',
	'PWD',
	'XDG_CONFIG_HOME',
	'XDG_CACHE_HOME',
	'XDG_DATA_HOME',
	'XDG_STATE_HOME',
	'XDG_RUNTIME_DIR',
	'SSL_CERT_FILE',
	'SSL_CERT_DIR',
	'NODE_EXTRA_CA_CERTS',
	// Required on Windows.
	'APPDATA',
	'LOCALAPPDATA',
	'COMSPEC',
	'HOMEDRIVE',
	'HOMEPATH',
	'PATHEXT',
	'PROGRAMFILES',
	'SYSTEMDRIVE',
	'SYSTEMROOT',
	'USERNAME',
	'USERPROFILE',
	'WINDIR',
]);

export type Environment = {readonly [name: string]: string};

/**
 * The variables of this process that a child inherits: all except those of bridge itself, or the allow-list.
 */
export type InheritedVariables = 'all' | 'allowed';

const isAllowed = (name: string): boolean => {
	const key = name.toUpperCase();
	return allowedVariables.has(key) || key.startsWith('LC_');
};

/** Settings and tokens of bridge itself. A child gets its own process mark. */
const isBridgeVariable = (name: string): boolean => name.toUpperCase().startsWith('BRIDGE_');

export function childEnvironment(
	configured: Environment,
	inherited: InheritedVariables = 'allowed',
	own: NodeJS.ProcessEnv = process.env,
): Environment {
	const passes = inherited === 'all' ? (name: string) => !isBridgeVariable(name) : isAllowed;
	const environment: Record<string, string> = {};
	for (const [name, value] of Object.entries(own))
		if (value !== undefined && passes(name)) environment[name] = value;
	return {...environment, ...configured};
}

const MAX_NAMES = 20;
const NAME = /^[A-Z_][A-Z0-9_]{0,63}$/i;
/** Names of variables that are likely to be credentials or addresses. */
const CREDENTIAL = /TOKEN|KEY|SECRET|PASS|AUTH|CREDENTIAL|URL|DSN/i;
const shellVariables: ReadonlySet<string> = new Set(['_', 'OLDPWD', 'SHLVL']);

/**
 * A sentence with the names of the variables that the allow-list withholds from a child. Empty if none are.
 *
 * Names that occur in `stderrText` come first, since a program usually names a variable that it misses.
 * Likely credentials are second.
 */
export function describeWithheld(
	configured: Environment,
	{stderrText, remedy}: {readonly stderrText: string; readonly remedy: string},
	own: NodeJS.ProcessEnv = process.env,
): string {
	const names = Object.keys(own)
		.filter(
			name =>
				!isAllowed(name) &&
				!isBridgeVariable(name) &&
				!shellVariables.has(name) &&
				!Object.hasOwn(configured, name),
		)
		.sort((one, other) => (one < other ? -1 : 1));
	if (names.length === 0) return '';
	const shown = names.filter(name => NAME.test(name));
	const first = shown.filter(name => stderrText.includes(name));
	const credentials = shown.filter(name => CREDENTIAL.test(name));
	const listed = [...new Set([...first, ...credentials, ...shown])].slice(0, MAX_NAMES);
	const others = names.length - listed.length;
	const list = [...listed, ...(others > 0 ? [`${others} more`] : [])].join(', ');
	return `bridge did not pass these environment variables to it: ${list}. ${remedy}`;
}

export const passVariableHint = (service: string): string =>
	`Pass one with env in its configuration: servers.${service}.env: { NAME: "\${NAME}" }.`;

/** Whether a folder of the PATH contains the command. Folders that this user may not search are skipped. */
export const isOnPath = (command: string, {PATH = ''}: {readonly PATH?: string}): boolean =>
	PATH.split(delimiter).some(folder => existsSync(join(folder, command)));
