import type {WorkerOptions} from 'node:worker_threads';

/** What a worker may have of this process: no environment, no arguments, and a heap that is bounded as the interpreter's is. */
export const confined: WorkerOptions = {
	env: {},
	argv: [],
	execArgv: [],
	stdin: false,
	stdout: true,
	stderr: true,
	resourceLimits: {maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 16},
};
