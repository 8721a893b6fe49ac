import {constants, fchmodSync, fstatSync, lstatSync, type Stats, statSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import process from 'node:process';

/** Thrown for a file or folder in which another user could read or replace files of bridge. */
export class UnsafeFileError extends Error {
	override readonly name = 'UnsafeFileError';
	readonly remedy: string;

	constructor(message: string, remedy: string) {
		super(message);
		this.remedy = remedy;
	}
}

/** Returns the reason why a file cannot be written, with the remedy if there is one. */
export const describeFileError = (error: Error): string =>
	error instanceof UnsafeFileError ? `${error.message}. ${error.remedy}` : `${error.message}.`;

/**
 * An open flag that rejects a link as the last path component. Links in the path of the folder are followed.
 */
export const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** Explains the error of an open with `NO_FOLLOW`. */
export const openError = (file: string, error: NodeJS.ErrnoException): Error =>
	error.code === 'ELOOP' || error.code === 'EMLINK'
		? new UnsafeFileError(`${file} is a symbolic link`, 'Remove it, or name the file that it points to.')
		: error;

/** Whether a file is `/dev/stdout` or similar. Links are safe there, since only root can create them. */
export const isDevice = (file: string): boolean =>
	/^\/(dev\/(fd\/|pts\/)?|proc\/self\/fd\/)[^/]+$/.test(resolve(file));

const isOtherUser = (uid: number): boolean => {
	const own = process.geteuid?.();
	return own !== undefined && uid !== own && uid !== 0;
};

/**
 * Checks an open file that bridge writes: it must belong to this user or root. Makes it accessible only to
 * that user. The check uses the descriptor, so the file cannot be replaced after the check.
 */
export function secureOpenFile(fd: number, file: string): Stats {
	const stats = fstatSync(fd);
	if (isOtherUser(stats.uid))
		throw new UnsafeFileError(
			`${file} belongs to another user (uid ${stats.uid})`,
			'Remove it, or name a file in a folder that you own.',
		);
	const mode = stats.mode & 0o777;
	if (process.platform === 'win32' || (mode & 0o177) === 0 || !(stats.isFile() || stats.isFIFO()))
		return stats;
	try {
		fchmodSync(fd, 0o600);
	} catch {
		throw new UnsafeFileError(
			`other users can read or write ${file} (mode ${mode.toString(8)}), and its mode cannot be changed`,
			`Run chmod 600 ${file} as its owner, or name another file.`,
		);
	}
	return stats;
}

type OwnerAndMode = {readonly uid: number; readonly gid: number; readonly mode: number};

/**
 * Describes how other users can write to a file or folder that runs code; undefined if they cannot. A group
 * with the number of the owner counts as the private group of that user, which most Linux distributions
 * create.
 */
export function describeForeignWriters({uid, gid, mode}: OwnerAndMode): string | undefined {
	if (process.platform === 'win32') return;
	const modeDescription = `mode ${(mode & 0o7777).toString(8)}`;
	if (isOtherUser(uid)) return `it belongs to another user (uid ${uid})`;
	if ((mode & 0o002) !== 0) return `all users can write to it (${modeDescription})`;
	return (mode & 0o020) !== 0 && gid !== uid
		? `its group can write to it (${modeDescription}, gid ${gid})`
		: undefined;
}

/**
 * Checks a folder that bridge writes files to: no other user may be able to remove or replace them. Root may
 * use the folder of a user, who cannot read the files that root creates there.
 */
export function checkFolderOwnership(folder: string): void {
	const linkStats = lstatSync(folder);
	const stats = linkStats.isSymbolicLink() ? statSync(folder) : linkStats;
	const owner = [linkStats, stats].find(({uid}) => isOtherUser(uid))?.uid;
	const isShared = (stats.mode & 0o1002) === 0o002 && process.platform !== 'win32';
	const remedyFolder = 'a folder that you own, such as ~/.local/state/bridge/logs.';
	if (isShared)
		throw new UnsafeFileError(
			`all users can replace files in ${folder} (mode ${modeText(stats)})`,
			`Run chmod o-w ${folder}, or name ${remedyFolder}`,
		);
	if (owner !== undefined && (linkStats.isSymbolicLink() || process.geteuid?.() !== 0))
		throw new UnsafeFileError(`${folder} belongs to another user (uid ${owner})`, `Name ${remedyFolder}`);
}

const modeText = ({mode}: Stats): string => (mode & 0o7777).toString(8);

export const checkParentFolder = (file: string): void => {
	if (!isDevice(file)) checkFolderOwnership(dirname(file));
};
