import {readFileSync, realpathSync} from 'node:fs';
import {basename, dirname, join, sep} from 'node:path';
import process from 'node:process';
import {PACKAGE_NAME} from '../../util/package-name.js';

export type CommandWords = readonly [string, ...string[]];

/**
 * The command that runs this program on this machine: the paths of Node and of the program. The name alone could start
 * another program: iproute2 has a `bridge`, too, and clients with a window have another PATH than a shell.
 */
export const ownCommand = (script: string): CommandWords => [process.execPath, realpathSync(script)];

/** The command for a file that is shared with other machines, and a warning if it works on this machine only. */
export function sharedCommand(
	script: string,
	version: string,
): {readonly command: CommandWords; readonly warning: string | undefined} {
	if (isFromRegistry(realpathSync(script)))
		return {command: ['npx', '-y', `${PACKAGE_NAME}@${version}`], warning: undefined};
	return {
		command: ownCommand(script),
		warning:
			'This entry works on this machine only: it has the paths of Node and of bridge, which was not installed from a registry.',
	};
}

/** Whether npm, npx or another package manager installed the program from a registry, not from a folder or a file. */
function isFromRegistry(script: string): boolean {
	const marker = `${sep}node_modules${sep}${PACKAGE_NAME}${sep}`;
	const at = script.lastIndexOf(marker);
	if (at === -1) return false;
	const folder = join(script.slice(0, at), 'node_modules');
	// pnpm names its folders after the source of a package.
	if (basename(dirname(folder)).includes('@file+')) return false;
	const resolved = resolvedIn(join(folder, '.package-lock.json'));
	return resolved === undefined || /^https?:/.test(resolved);
}

/** Where npm installed the package from; undefined for a global installation, which has no such file. */
function resolvedIn(file: string): string | undefined {
	try {
		const {packages} = JSON.parse(readFileSync(file, 'utf8'));
		return packages?.[`node_modules/${PACKAGE_NAME}`]?.resolved;
	} catch {
		return;
	}
}
