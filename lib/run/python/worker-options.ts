import type {WorkerOptions} from 'node:worker_threads';

/**
 * Confines a worker: no environment, no arguments and a small heap. The memory of the interpreter is not part
 * of that heap.
 */
export const confinedWorkerOptions: WorkerOptions = {
	env: {},
	argv: [],
	execArgv: [],
	stdin: false,
	stdout: true,
	stderr: true,
	resourceLimits: {maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8, stackSizeMb: 16},
};
