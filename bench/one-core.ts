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
 * Runs client, proxies and servers on one core during `work`, if taskset is installed. Single calls leave
 * cores idle, and on a virtual machine waking an idle core takes longer than the call and varies. On one
 * core, the time of a call is the time of its work.
 */
export const onOneCore = async (folder: string, work: () => Promise<void>): Promise<void> => {
	const all = cpus(process.pid);
	// The last core, since the first one handles most interrupts.
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
