import {readdir, rename, stat, unlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {BridgeError} from '../core/errors.js';
import {runExclusive} from '../util/run-exclusive.js';
import {makeFolder} from './make-folder.js';
import {livenessOf, ownProcessIdentity, PROCESS_IDENTITY_PATTERN, pidOfIdentity} from './process-identity.js';

/** What is done under a lock takes milliseconds; whoever takes this long has been stopped, or the disk has. */
const ACQUIRE_TIMEOUT_MS = 5000;
/** After this, a file of another machine's or container's, whose process nobody here can see, is nobody's. */
const FOREIGN_TICKET_TTL_MS = 30_000;
const POLL_MS = 2;

/** Whoever wants in has a file: `MARK.COUNT.choosing` at first, then with the number of its turn. */
const ticketNamePattern = new RegExp(`^((${PROCESS_IDENTITY_PATTERN})\\.\\d+)\\.(choosing|\\d{1,15})$`);

type Ticket = {readonly name: string; readonly turn: number | undefined};

let ticketCount = 0;

/** What the files of this process are called that are in use. One that could not be removed must not keep anybody out. */
const activeStems = new Set<string>();

/**
 * Does something while no other process, and nobody else in this one, does anything under a lock on this folder.
 *
 * It is Lamport's bakery: everybody draws a number, and who has the lowest is next. All files have names of their own, so
 * what the dead left can be removed by anyone at any time. One file for all, removed when its owner is dead, could be
 * removed just after the next one made it.
 */
export const withFolderLock = <T>(folder: string, action: () => Promise<T>): Promise<T> =>
	// Those of this process wait for each other without any files.
	runExclusive(folder, () => runUnderLock(folder, action));

async function runUnderLock<T>(folder: string, action: () => Promise<T>): Promise<T> {
	await makeFolder(folder);
	const own = await takeTicket(folder);
	try {
		const deadline = performance.now() + ACQUIRE_TIMEOUT_MS;
		// A listing may miss a file that gets its number meanwhile; the next one does not.
		for (let clearListings = 0; clearListings < 2; clearListings++) {
			const [first] = await ticketsAhead(folder, own);
			if (first === undefined) continue;
			if (performance.now() > deadline) throw acquireTimeout(folder, first.name);
			clearListings = -1;
			await sleep(POLL_MS);
		}
		return await action();
	} finally {
		activeStems.delete(own.name.replace(/\.\d+$/, ''));
		await unlink(join(folder, own.name)).catch(() => {});
	}
}

/** Draws the number after all that are drawn. */
async function takeTicket(folder: string): Promise<Ticket> {
	const stem = `${ownProcessIdentity()}.${ticketCount++}`;
	activeStems.add(stem);
	const choosing = join(folder, `${stem}.choosing`);
	try {
		await writeFile(choosing, '', {flag: 'wx', mode: 0o600});
		const turn = 1 + Math.max(0, ...(await readTickets(folder)).map(({turn = 0}) => turn));
		const name = `${stem}.${turn}`;
		await rename(choosing, join(folder, name));
		return {name, turn};
	} catch (error) {
		activeStems.delete(stem);
		await unlink(choosing).catch(() => {});
		throw error;
	}
}

/** Those who are to go first, or may be. */
const ticketsAhead = async (folder: string, {name, turn = 0}: Ticket): Promise<Ticket[]> =>
	(await readTickets(folder)).filter(
		other =>
			other.name !== name &&
			(other.turn === undefined || other.turn < turn || (other.turn === turn && other.name < name)),
	);

/** The files of those who are alive. Those of the dead are removed. */
async function readTickets(folder: string): Promise<Ticket[]> {
	const tickets: Ticket[] = [];
	for (const name of await readdir(folder)) {
		const [, stem, mark, turn] = ticketNamePattern.exec(name) ?? [];
		if (stem === undefined || mark === undefined) continue;
		const isAlive =
			mark === ownProcessIdentity() ? activeStems.has(stem) : await isOwnerAlive(join(folder, name), mark);
		if (isAlive) tickets.push({name, turn: turn === 'choosing' ? undefined : Number(turn)});
		else await unlink(join(folder, name)).catch(() => {});
	}
	return tickets;
}

async function isOwnerAlive(path: string, mark: string): Promise<boolean> {
	const liveness = livenessOf(mark);
	return liveness === 'foreign' ? isRecentlyModified(path, FOREIGN_TICKET_TTL_MS) : liveness === 'alive';
}

/** Whether a file was made, or refreshed by its owner, within this time. */
export async function isRecentlyModified(path: string, withinMs: number): Promise<boolean> {
	const stats = await stat(path).catch(() => undefined);
	return stats !== undefined && Date.now() - stats.mtimeMs < withinMs;
}

/** Tells those who cannot see this process that it is still there. */
export async function touchFile(path: string): Promise<void> {
	const now = new Date();
	await utimes(path, now, now).catch(() => {});
}

function acquireTimeout(folder: string, ticketName: string): BridgeError {
	const pid = pidOfIdentity(ticketNamePattern.exec(ticketName)?.[2] ?? '');
	return new BridgeError(
		'ERR_SESSION_BUSY',
		`Process ${pid} has held the lock in ${folder} for ${ACQUIRE_TIMEOUT_MS / 1000} s.`,
		`If it was stopped, let it go on (kill -CONT ${pid}) or end it.`,
		{pid},
	);
}
