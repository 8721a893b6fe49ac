import {randomUUID} from 'node:crypto';
import {readdir, readFile} from 'node:fs/promises';
import type {Owner} from './listening.js';

async function mentions(pid: string, marker: string): Promise<boolean> {
	const files = [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`];
	// A process may end between the listing and the reading: then it mentions nothing.
	const texts = await Promise.all(files.map(file => readFile(file, 'latin1').catch(() => '')));
	return texts.some(text => text.includes(marker));
}

/** Ids of the processes alive whose command line or environment holds `marker`, this one left out. */
export async function processesWith(marker: string): Promise<string[]> {
	const entries = await readdir('/proc');
	const pids = entries.filter(name => /^\d+$/.test(name) && name !== String(process.pid));
	const found = await Promise.all(pids.map(async pid => ((await mentions(pid, marker)) ? [pid] : [])));
	return found.flat();
}

/** Who should be gone and is not, by command line. They are ended, so that a test that fails leaves nothing behind. */
export async function survivorsOf(marker: string): Promise<string[]> {
	const pids = await processesWith(marker);
	return Promise.all(
		pids.map(async pid => {
			const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
			endProcess(Number(pid));
			return line.replaceAll('\0', ' ');
		}),
	);
}

function endProcess(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch {
		// It ended by itself in the meantime.
	}
}

/** Sees to it that nothing with `marker` outlives the test, however the test ends. */
export function endAfterwards(t: Owner, marker: string): void {
	t.teardown(() => survivorsOf(marker));
}

/** A text that occurs nowhere else on the machine, to be put into the command line of a server. */
export function newMarker(t: Owner): string {
	const marker = `marker-${randomUUID()}`;
	endAfterwards(t, marker);
	return marker;
}
