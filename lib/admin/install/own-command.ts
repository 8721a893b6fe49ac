import {readFileSync, realpathSync} from 'node:fs';
import {basename, dirname, join, sep} from 'node:path';
import process from 'node:process';
import {PACKAGE_NAME} from '../../util/package-name.js';

export type CommandWords = readonly [string, ...string[]];

/**
 * Returns the command that runs this program on this machine, with the absolute paths of Node and of the
 * script. The name alone may resolve to another program, such as the `bridge` of iproute2, and desktop
 * clients often have a different PATH than the shell.
 */
export const ownCommand = (script: string): CommandWords => [process.execPath, realpathSync(script)];

/**
 * Returns a command for a file that is shared with other machines, and a warning if it only works on this
 * one.
 */
export function sharedCommand(
	script: string,
	version: string,
): {readonly command: CommandWords; readonly warning: string | undefined} {
	if (isFromRegistry(realpathSync(script)))
		return {command: ['npx', '-y', `${PACKAGE_NAME}@${version}`], warning: undefined};
	return {
		command: ownCommand(script),
		warning:
			'This entry works on this machine only: it contains the paths of Node and bridge, since bridge was not installed from a registry.',
	};
}

/** Returns whether a package manager installed the program from a registry, not from a folder or a file. */
function isFromRegistry(script: string): boolean {
	const marker = `${sep}node_modules${sep}${PACKAGE_NAME}${sep}`;
	const at = script.lastIndexOf(marker);
	if (at === -1) return false;
	const folder = join(script.slice(0, at), 'node_modules');
	// pnpm includes the source of a package in its folder name.
	if (basename(dirname(folder)).includes('@file+')) return false;
	const resolved = resolvedIn(join(folder, '.package-lock.json'));
	return resolved === undefined || /^https?:/.test(resolved);
}

/**
 * The URL that npm installed the package from; undefined for a global installation, which has no lock file.
 */
function resolvedIn(file: string): string | undefined {
	try {
		const {packages} = JSON.parse(readFileSync(file, 'utf8'));
		return packages?.[`node_modules/${PACKAGE_NAME}`]?.resolved;
	} catch {
		return;
	}
}
