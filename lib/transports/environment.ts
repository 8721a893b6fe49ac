import {existsSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import process from 'node:process';

/** What a child may see of this process's environment: what programs need to run, and nothing that tends to be secret. */
const allowed = new Set([
	...[
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
	],
	...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
	...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
	// Windows does not start programs without these.
	...[
		'APPDATA',
		'LOCALAPPDATA',
		'COMSPEC',
		'HOMEDRIVE',
		'HOMEPATH',
		'PATHEXT',
		'PROGRAMFILES',
		'SYSTEMDRIVE',
	],
	...['SYSTEMROOT', 'USERNAME', 'USERPROFILE', 'WINDIR'],
]);

export type Environment = {readonly [name: string]: string};

/** The environment of a child: the allow-list, and what is configured for it. */
export function childEnvironment(configured: Environment, own: NodeJS.ProcessEnv = process.env): Environment {
	const environment: Record<string, string> = {};
	for (const [name, value] of Object.entries(own)) {
		const key = name.toUpperCase();
		if (value !== undefined && (allowed.has(key) || key.startsWith('LC_'))) environment[name] = value;
	}
	return {...environment, ...configured};
}

/** Whether a folder of the PATH has the command, as far as this user may search them. */
export const isOnPath = (command: string, {PATH = ''}: {readonly PATH?: string}): boolean =>
	PATH.split(delimiter).some(folder => existsSync(join(folder, command)));
