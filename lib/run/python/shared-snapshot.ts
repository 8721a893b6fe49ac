import {Worker} from 'node:worker_threads';
import {pythonWorker} from '../../run-time-files.js';
import {messageOf} from '../program-error.js';
import type {BootData, PythonSnapshot, WorkerMessage} from './messages.js';
import {pythonWasmPath} from './python-package.js';
import {confinedWorkerOptions} from './worker-options.js';

/** A started Python that is there until nobody needs it. */
export type SharedSnapshot = {
	readonly python: Promise<PythonSnapshot>;
	/** To be called once by each who has it. */
	release(): void;
};

/** One for each size of memory, of which there is one in most programs. */
const started = new Map<number, {readonly python: Promise<PythonSnapshot>; users: number}>();

/** Starts Python, unless that is done or under way already: starting it costs more than anything a program does. */
export function acquireSnapshot(maxMemoryBytes: number): SharedSnapshot {
	const entry = started.get(maxMemoryBytes) ?? {python: bootPython(maxMemoryBytes), users: 0};
	started.set(maxMemoryBytes, entry);
	entry.users++;
	// Whoever waits for it hears of it; a start that failed is tried again.
	entry.python.catch(() => {
		if (started.get(maxMemoryBytes) === entry) started.delete(maxMemoryBytes);
	});
	return {
		python: entry.python,
		release: () => {
			entry.users--;
			if (entry.users === 0 && started.get(maxMemoryBytes) === entry) started.delete(maxMemoryBytes);
		},
	};
}

/** Starts Python once, in a thread of its own, and keeps what its memory looks like then. */
async function bootPython(maxMemoryBytes: number): Promise<PythonSnapshot> {
	const path = pythonWasmPath();
	if (path === undefined) throw new Error('Python is not installed.');
	const data: BootData = {task: 'boot', path, maxMemoryBytes};
	const worker = new Worker(pythonWorker, {...confinedWorkerOptions, workerData: data});
	worker.unref();
	try {
		return await new Promise<PythonSnapshot>((resolve, reject) => {
			worker.on('message', (message: WorkerMessage) => {
				if ('python' in message) resolve(message.python);
			});
			worker.on('error', error => reject(new Error(messageOf(error))));
			worker.on('exit', () => reject(new Error('Python did not start.')));
		});
	} finally {
		await worker.terminate();
	}
}
