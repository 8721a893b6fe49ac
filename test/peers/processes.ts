import {randomUUID} from 'node:crypto';
import {readdir, readFile} from 'node:fs/promises';
import type {Owner} from './listening.js';

async function mentions(pid: string, marker: string): Promise<boolean> {
	const files = [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`];
	// A process that exits between the two reads does not match.
	const texts = await Promise.all(files.map(file => readFile(file, 'latin1').catch(() => '')));
	return texts.some(text => text.includes(marker));
}

/** Ids of other live processes whose command line or environment contains `marker`. */
export async function processesWith(marker: string): Promise<string[]> {
	const entries = await readdir('/proc');
	const pids = entries.filter(name => /^\d+$/.test(name) && name !== String(process.pid));
	const found = await Promise.all(pids.map(async pid => ((await mentions(pid, marker)) ? [pid] : [])));
	return found.flat();
}

/** The command lines of surviving processes. They are killed, so that a failed test leaves none behind. */
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
		// The process exited in the meantime.
	}
}

/** Kills all processes with `marker` at the end of the test. */
export function endAfterwards(t: Owner, marker: string): void {
	t.teardown(() => survivorsOf(marker));
}

/** A unique text for the command line of a server. */
export function newMarker(t: Owner): string {
	const marker = `marker-${randomUUID()}`;
	endAfterwards(t, marker);
	return marker;
}
