import {constants, fchmodSync, fstatSync, lstatSync, type Stats, statSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import process from 'node:process';

/** A file or folder that is not used, since another user could read or replace what bridge writes there. */
export class UnsafeFileError extends Error {
	override readonly name = 'UnsafeFileError';
	/** What to do about it: a sentence. */
	readonly remedy: string;

	constructor(message: string, remedy: string) {
		super(message);
		this.remedy = remedy;
	}
}

/** The reason why a file cannot be written, and the remedy if there is one. */
export const describeFileError = (error: Error): string =>
	error instanceof UnsafeFileError ? `${error.message}. ${error.remedy}` : `${error.message}.`;

/** Fails where the file itself is a link. Links in the path of its folder are followed. */
export const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** Describes the error of an open with `NO_LINK`. */
export const openError = (file: string, error: NodeJS.ErrnoException): Error =>
	error.code === 'ELOOP' || error.code === 'EMLINK'
		? new UnsafeFileError(`${file} is a symbolic link`, 'Remove it, or name the file that it points to.')
		: error;

/** `/dev/stdout` and the like, which may be links: only root can put files there. */
export const isDevice = (file: string): boolean =>
	/^\/(dev\/(fd\/|pts\/)?|proc\/self\/fd\/)[^/]+$/.test(resolve(file));

/** Whether this is neither the own user nor root. */
const isOtherUser = (uid: number): boolean => {
	const own = process.geteuid?.();
	return own !== undefined && uid !== own && uid !== 0;
};

/**
 * Checks an open file that bridge writes: it must be this user's (or root's), and becomes readable for that user alone. What is
 * checked is the file behind the descriptor, so that it cannot be exchanged after the check.
 */
export function secureOpenFile(fd: number, file: string): Stats {
	const stats = fstatSync(fd);
	if (isOtherUser(stats.uid))
		throw new UnsafeFileError(
			`${file} belongs to another user (uid ${stats.uid})`,
			'Remove it, or name a file in a folder of your own.',
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
 * How other users can write a file or folder that runs code; undefined where none can. A group with the number of the owner is
 * treated as the private group of that user, as most distributions of Linux create it.
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
 * Checks a folder that bridge writes files to: no other user may be able to remove or replace them. Root may use the folder of
 * a user, who cannot read the files that root creates there.
 */
export function checkFolderOwnership(folder: string): void {
	const linkStats = lstatSync(folder);
	const stats = linkStats.isSymbolicLink() ? statSync(folder) : linkStats;
	const owner = [linkStats, stats].find(({uid}) => isOtherUser(uid))?.uid;
	const isShared = (stats.mode & 0o1002) === 0o002 && process.platform !== 'win32';
	const remedyFolder = 'a folder of your own, such as ~/.local/state/bridge/logs.';
	if (isShared)
		throw new UnsafeFileError(
			`all users can replace files in ${folder} (mode ${modeText(stats)})`,
			`Run chmod o-w ${folder}, or name ${remedyFolder}`,
		);
	if (owner !== undefined && (linkStats.isSymbolicLink() || process.geteuid?.() !== 0))
		throw new UnsafeFileError(`${folder} belongs to another user (uid ${owner})`, `Name ${remedyFolder}`);
}

const modeText = ({mode}: Stats): string => (mode & 0o7777).toString(8);

/** Checks the folder of a file, except for devices. */
export const checkParentFolder = (file: string): void => {
	if (!isDevice(file)) checkFolderOwnership(dirname(file));
};
