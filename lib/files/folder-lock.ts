import {readdir, rename, stat, unlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {BridgeError} from '../core/errors.js';
import {runExclusive} from '../util/run-exclusive.js';
import {makeFolder} from './make-folder.js';
import {livenessOf, ownProcessIdentity, PROCESS_IDENTITY_PATTERN, pidOfIdentity} from './process-identity.js';

/** Actions under a lock take milliseconds. A longer wait means that the owner or the disk is stalled. */
const ACQUIRE_TIMEOUT_MS = 5000;
/**
 * The age after which a ticket of another machine or container, whose process is not visible here, is stale.
 */
const FOREIGN_TICKET_TTL_MS = 30_000;
const POLL_MS = 2;

/**
 * The name of a ticket file: `IDENTITY.COUNT.choosing` at first, then with its number instead of `choosing`.
 */
const ticketNamePattern = new RegExp(`^((${PROCESS_IDENTITY_PATTERN})\\.\\d+)\\.(choosing|\\d{1,15})$`);

type Ticket = {readonly name: string; readonly turn: number | undefined};

let ticketCount = 0;

/** Stems of this process's active tickets. Other files of this process are stale and can be removed. */
const activeStems = new Set<string>();

/**
 * Runs an action exclusively among all processes and all callers in this process that lock the same folder.
 *
 * This is Lamport's bakery algorithm: each caller draws a number, and the lowest one is next. Each ticket
 * file has a unique name, so any process can safely remove tickets of dead processes. With one shared lock
 * file, a process could remove the lock that another process has just created.
 */
export const withFolderLock = <T>(folder: string, action: () => Promise<T>): Promise<T> =>
	// Callers in this process are queued without any files.
	runExclusive(folder, () => runUnderLock(folder, action));

async function runUnderLock<T>(folder: string, action: () => Promise<T>): Promise<T> {
	await makeFolder(folder);
	const own = await takeTicket(folder);
	try {
		const deadline = performance.now() + ACQUIRE_TIMEOUT_MS;
		// A listing may miss a ticket that is being renamed, but the next listing contains it.
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

/** The tickets that precede or may precede this one. */
const ticketsAhead = async (folder: string, {name, turn = 0}: Ticket): Promise<Ticket[]> =>
	(await readTickets(folder)).filter(
		other =>
			other.name !== name &&
			(other.turn === undefined || other.turn < turn || (other.turn === turn && other.name < name)),
	);

/** Returns the tickets of live processes and removes the others. */
async function readTickets(folder: string): Promise<Ticket[]> {
	const tickets: Ticket[] = [];
	for (const name of await readdir(folder)) {
		const [, stem, identity, turn] = ticketNamePattern.exec(name) ?? [];
		if (stem === undefined || identity === undefined) continue;
		const isAlive =
			identity === ownProcessIdentity()
				? activeStems.has(stem)
				: await isOwnerAlive(join(folder, name), identity);
		if (isAlive) tickets.push({name, turn: turn === 'choosing' ? undefined : Number(turn)});
		else await unlink(join(folder, name)).catch(() => {});
	}
	return tickets;
}

async function isOwnerAlive(path: string, identity: string): Promise<boolean> {
	const liveness = livenessOf(identity);
	return liveness === 'foreign' ? isRecentlyModified(path, FOREIGN_TICKET_TTL_MS) : liveness === 'alive';
}

export async function isRecentlyModified(path: string, withinMs: number): Promise<boolean> {
	const stats = await stat(path).catch(() => undefined);
	return stats !== undefined && Date.now() - stats.mtimeMs < withinMs;
}

/** Updates the modification time, which shows processes of other machines that the owner is alive. */
export async function touchFile(path: string): Promise<void> {
	const now = new Date();
	await utimes(path, now, now).catch(() => {});
}

function acquireTimeout(folder: string, ticketName: string): BridgeError {
	const pid = pidOfIdentity(ticketNamePattern.exec(ticketName)?.[2] ?? '');
	return new BridgeError(
		'ERR_SESSION_BUSY',
		`Process ${pid} has locked ${folder} for more than ${ACQUIRE_TIMEOUT_MS / 1000} s.`,
		`If the process is stopped, resume it (kill -CONT ${pid}) or end it.`,
		{pid},
	);
}
