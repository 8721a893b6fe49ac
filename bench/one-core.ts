import {spawnSync} from 'node:child_process';
import {family} from './process-stats.js';

const cpus = (pid: number): string => {
	const {stdout} = spawnSync('taskset', ['-cp', String(pid)], {encoding: 'utf8'});
	return /: ([\d,-]+)/.exec(stdout ?? '')?.[1] ?? '';
};
const place = (list: string, folder: string): void => {
	for (const {pid} of family(process.pid, folder)) {
		spawnSync('taskset', ['-acp', list, String(pid)], {stdio: 'ignore'});
	}
};

/**
 * Has client, proxies and servers share one core while `work` goes on, where there is taskset.
 *
 * Calls that come alone leave cores idle, and on a virtual machine to wake an idle core takes longer than all the work
 * of a call and differs from moment to moment. On one core the time of a call is the time of the work for it.
 */
export const onOneCore = async (folder: string, work: () => Promise<void>): Promise<void> => {
	const all = cpus(process.pid);
	// The last one: it is the first that is busy with interrupts, mostly.
	const [one] = /\d+$/.exec(all) ?? [];
	if (one === undefined) {
		await work();
		return;
	}
	place(one, folder);
	try {
		await work();
	} finally {
		place(all, folder);
	}
};
