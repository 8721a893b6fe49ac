import {randomBytes} from 'node:crypto';
import {constants, link, open, unlink, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../../lib/core/errors.js';
import {makeFolder} from '../../lib/files/make-folder.js';
import {userStateFolder} from '../../lib/files/state-folder.js';
import {hasSocketTable} from '../../lib/http/socket-table.js';

/**
 * How a loopback server without configured tokens distinguishes its own user from others: by the owner of the
 * connection, or by a token that only this user can read.
 */
export type LocalAccess =
	| {readonly by: 'owner'}
	| {readonly by: 'token'; readonly token: string; readonly file: string};

/** Whether the operating system lists the owners of connections. */
export const listsSocketOwners = process.platform === 'linux';

/** The maximum size of the token file: a token and whitespace. */
const MAX_FILE_BYTES = 256;

/**
 * Selects how users are distinguished on this system. Creates the token if it is needed and does not exist.
 */
export async function localAccess(env: NodeJS.ProcessEnv, home = homedir()): Promise<LocalAccess> {
	if (listsSocketOwners && (await hasSocketTable())) return {by: 'owner'};
	const file = join(userStateFolder(env, home), 'token');
	return {by: 'token', token: await userToken(file), file};
}

/** Returns the token of a user. Creates the file if it does not exist. */
export const userToken = async (file: string): Promise<string> =>
	(await readToken(file)) ?? (await createToken(file));

async function createToken(file: string): Promise<string> {
	const draft = `${file}.${randomBytes(8).toString('hex')}`;
	try {
		await makeFolder(dirname(file));
		await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, {mode: 0o600, flag: 'wx'});
		// Several processes may create it concurrently. All use the token of the first.
		await link(draft, file).catch(ignoreExisting);
	} catch (error) {
		throw tokenFileError(file, (error as Error).message, 'Make that folder writable, or set XDG_STATE_HOME.');
	} finally {
		await unlink(draft).catch(() => {});
	}
	const token = await readToken(file);
	if (token === undefined)
		throw tokenFileError(file, 'it was removed in the meantime', 'Start bridge again.');
	return token;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
	if (error.code !== 'EEXIST') throw error;
}

/**
 * Reads the token; undefined if the file does not exist. Rejects a file that other users can read or write.
 */
async function readToken(file: string): Promise<string | undefined> {
	const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(
		(error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return;
			throw tokenFileError(file, error.message, 'Remove it. bridge creates a new one.');
		},
	);
	if (!handle) return;
	try {
		const {uid, mode} = await handle.stat();
		const own = process.geteuid?.();
		if (own !== undefined && (uid !== own || (mode & 0o077) !== 0))
			throw tokenFileError(file, 'other users can read or change it', 'Remove it. bridge creates a new one.');
		const {buffer, bytesRead} = await handle.read(Buffer.alloc(MAX_FILE_BYTES));
		const token = buffer.toString('latin1', 0, bytesRead).trim();
		if (/^[\w-]{43}$/.test(token)) return token;
		throw tokenFileError(file, 'it contains no token', 'Remove it. bridge creates a new one.');
	} finally {
		await handle.close();
	}
}

const tokenFileError = (file: string, reason: string, remedy: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', `The token file ${file} cannot be used: ${reason}.`, remedy);
