import type {WorkerOptions} from 'node:worker_threads';

/** What a worker may have of this process: no environment, no arguments, and a small heap: the interpreter's memory is not in it. */
export const confinedWorkerOptions: WorkerOptions = {
	env: {},
	argv: [],
	execArgv: [],
	stdin: false,
	stdout: true,
	stderr: true,
	resourceLimits: {maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8, stackSizeMb: 16},
};
