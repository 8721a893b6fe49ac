import {readdirSync, readFileSync} from 'node:fs';

export interface ProcessInfo {
	pid: number;
	parent: number;
	state: string;
	/** Start time in clock ticks, which identifies a process together with its pid. */
	started: string;
}
export interface Usage {
	cpuMicros: number;
	rssMegabytes: number;
}

// A process that exits between the two reads is not an error.
const readOrEmpty = (path: string): string => {
	try {
		return readFileSync(path, 'utf8');
	} catch {
		return '';
	}
};
const listOrEmpty = (path: string): string[] => {
	try {
		return readdirSync(path);
	} catch {
		return [];
	}
};

const readProcess = (pid: number): ProcessInfo | undefined => {
	const text = readOrEmpty(`/proc/${pid}/stat`);
	// The name in parentheses may contain spaces, so fields are counted from its end.
	const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
	const [state, parent] = fields;
	const started = fields[19];
	return state && parent && started ? {pid, parent: Number(parent), state, started} : undefined;
};

const listProcesses = (): ProcessInfo[] =>
	listOrEmpty('/proc')
		.filter(name => /^\d+$/.test(name))
		.map(name => readProcess(Number(name)))
		.filter(info => info !== undefined);

const commandLine = (pid: number): string[] => readOrEmpty(`/proc/${pid}/cmdline`).split('\0');
const isEchoServer = (pid: number): boolean =>
	commandLine(pid)[1]?.endsWith('programs/echo-server.js') ?? false;

/**
 * A process with its descendants, and each process with `folder` in its command line, which includes
 * daemons and orphans.
 */
export const family = (root: number, folder: string): ProcessInfo[] => {
	const all = listProcesses();
	const members = new Map<number, ProcessInfo>();
	const named = (pid: number): boolean => commandLine(pid).some(word => word.includes(folder));
	let fresh = all.filter(info => info.pid === root || (info.pid !== process.pid && named(info.pid)));
	while (fresh.length > 0) {
		for (const info of fresh) {
			members.set(info.pid, info);
		}
		fresh = all.filter(info => !members.has(info.pid) && members.has(info.parent));
	}
	return [...members.values()];
};

/** CPU time of all threads of a process. More precise than the ticks in /proc/PID/stat. */
export const cpuMicros = (pid: number): number =>
	listOrEmpty(`/proc/${pid}/task`).reduce((sum, thread) => {
		const [nanos = '0'] = readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`).split(' ');
		return sum + Number(nanos) / 1000;
	}, 0);

const rssMegabytes = (pid: number): number =>
	Number(/VmRSS:\s+(\d+)/.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

/** The usage of the proxy's own processes, without the echo server behind it. */
export const proxyUsage = (root: number, folder: string): Usage => {
	const own = family(root, folder).filter(info => info.state !== 'Z' && !isEchoServer(info.pid));
	return {
		cpuMicros: own.reduce((sum, info) => sum + cpuMicros(info.pid), 0),
		rssMegabytes: own.reduce((sum, info) => sum + rssMegabytes(info.pid), 0),
	};
};

/** CPU time of the bench and all its processes, in ms. */
export const benchCpuMs = (folder: string): number =>
	family(process.pid, folder).reduce((sum, info) => sum + cpuMicros(info.pid), 0) / 1000;

/** CPU time of the whole machine since its start, in ms. */
export const machineCpuMs = (): number => {
	const [first = ''] = readOrEmpty('/proc/stat').split('\n');
	const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = first
		.trim()
		.split(/\s+/)
		.slice(1)
		.map(Number);
	const MS_PER_TICK = 10;
	return (user + nice + system + irq + softIrq + steal) * MS_PER_TICK;
};

/** Kills the listed processes that still run, and returns their number. */
export const endLeftovers = (listed: ProcessInfo[]): number => {
	const left = listed.filter(info => {
		const now = readProcess(info.pid);
		return now !== undefined && now.started === info.started && now.state !== 'Z';
	});
	for (const info of left) {
		try {
			process.kill(info.pid, 'SIGKILL');
		} catch {
			// The process exited in the meantime.
		}
	}
	return left.length;
};
