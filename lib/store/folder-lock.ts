import {readdir, rename, stat, unlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {BridgeError} from '../errors.js';
import {inTurn} from './in-turn.js';
import {makeFolder} from './make-folder.js';
import {livenessOf, MARK_PATTERN, ownMark, pidOf} from './owner.js';

/** What is done under a lock takes milliseconds; whoever takes this long has been stopped, or the disk has. */
const PATIENCE_MS = 5000;
/** After this, a file of another machine's or container's, whose process nobody here can see, is nobody's. */
const FOREIGN_MS = 30_000;
const POLL_MS = 2;

/** Whoever wants in has a file: `MARK.COUNT.choosing` at first, then with the number of its turn. */
const named = new RegExp(`^((${MARK_PATTERN})\\.\\d+)\\.(choosing|\\d{1,15})$`);

type Ticket = {readonly name: string; readonly turn: number | undefined};

let count = 0;

/** What the files of this process are called that are in use. One that could not be removed must not keep anybody out. */
const inUse = new Set<string>();

/**
 * Does something while no other process, and nobody else in this one, does anything under a lock on this folder.
 *
 * It is Lamport's bakery: everybody draws a number, and who has the lowest is next. All files have names of their own, so
 * what the dead left can be removed by anyone at any time. One file for all, removed when its owner is dead, could be
 * removed just after the next one made it.
 */
export const underLock = <T>(folder: string, action: () => Promise<T>): Promise<T> =>
	// Those of this process wait for each other without any files.
	inTurn(folder, () => alone(folder, action));

async function alone<T>(folder: string, action: () => Promise<T>): Promise<T> {
	await makeFolder(folder);
	const own = await draw(folder);
	try {
		const until = performance.now() + PATIENCE_MS;
		// A listing may miss a file that gets its number meanwhile; the next one does not.
		for (let clear = 0; clear < 2; clear++) {
			const [first] = await ahead(folder, own);
			if (first === undefined) continue;
			if (performance.now() > until) throw tooLong(folder, first.name);
			clear = -1;
			await sleep(POLL_MS);
		}
		return await action();
	} finally {
		inUse.delete(own.name.replace(/\.\d+$/, ''));
		await unlink(join(folder, own.name)).catch(() => {});
	}
}

/** Draws the number after all that are drawn. */
async function draw(folder: string): Promise<Ticket> {
	const stem = `${ownMark()}.${count++}`;
	inUse.add(stem);
	const choosing = join(folder, `${stem}.choosing`);
	try {
		await writeFile(choosing, '', {flag: 'wx', mode: 0o600});
		const turn = 1 + Math.max(0, ...(await ticketsIn(folder)).map(({turn = 0}) => turn));
		const name = `${stem}.${turn}`;
		await rename(choosing, join(folder, name));
		return {name, turn};
	} catch (error) {
		inUse.delete(stem);
		await unlink(choosing).catch(() => {});
		throw error;
	}
}

/** Those who are to go first, or may be. */
const ahead = async (folder: string, {name, turn = 0}: Ticket): Promise<Ticket[]> =>
	(await ticketsIn(folder)).filter(
		other =>
			other.name !== name &&
			(other.turn === undefined || other.turn < turn || (other.turn === turn && other.name < name)),
	);

/** The files of those who are alive. Those of the dead are removed. */
async function ticketsIn(folder: string): Promise<Ticket[]> {
	const tickets: Ticket[] = [];
	for (const name of await readdir(folder)) {
		const [, stem, mark, turn] = named.exec(name) ?? [];
		if (stem === undefined || mark === undefined) continue;
		const isAlive = mark === ownMark() ? inUse.has(stem) : await isHeld(join(folder, name), mark);
		if (isAlive) tickets.push({name, turn: turn === 'choosing' ? undefined : Number(turn)});
		else await unlink(join(folder, name)).catch(() => {});
	}
	return tickets;
}

async function isHeld(path: string, mark: string): Promise<boolean> {
	const liveness = livenessOf(mark);
	return liveness === 'foreign' ? isFresh(path, FOREIGN_MS) : liveness === 'alive';
}

/** Whether a file was made, or refreshed by its owner, within this time. */
export async function isFresh(path: string, withinMs: number): Promise<boolean> {
	const found = await stat(path).catch(() => undefined);
	return found !== undefined && Date.now() - found.mtimeMs < withinMs;
}

/** Tells those who cannot see this process that it is still there. */
export async function refresh(path: string): Promise<void> {
	const now = new Date();
	await utimes(path, now, now).catch(() => {});
}

function tooLong(folder: string, holder: string): BridgeError {
	const pid = pidOf(named.exec(holder)?.[2] ?? '');
	return new BridgeError(
		'ERR_SESSION_BUSY',
		`Process ${pid} has held the lock in ${folder} for ${PATIENCE_MS / 1000} s.`,
		`If it was stopped, let it go on (kill -CONT ${pid}) or end it.`,
		{pid},
	);
}
