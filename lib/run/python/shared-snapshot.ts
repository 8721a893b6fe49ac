import {Worker} from 'node:worker_threads';
import {pythonWorker} from '../../run-time-files.js';
import {messageOf} from '../program-error.js';
import type {BootData, PythonSnapshot, WorkerMessage} from './messages.js';
import {pythonWasmPath} from './python-package.js';
import {confinedWorkerOptions} from './worker-options.js';

/** A snapshot that is shared until all users have released it. */
export type SharedSnapshot = {
	readonly python: Promise<PythonSnapshot>;
	/** Must be called once by each user. */
	release(): void;
};

/** Snapshots by memory size. Most processes use only one size. */
const snapshots = new Map<number, {readonly python: Promise<PythonSnapshot>; users: number}>();

/** Returns the shared snapshot and boots Python if necessary. Booting takes longer than most programs. */
export function acquireSnapshot(maxMemoryBytes: number): SharedSnapshot {
	const entry = snapshots.get(maxMemoryBytes) ?? {python: bootPython(maxMemoryBytes), users: 0};
	snapshots.set(maxMemoryBytes, entry);
	entry.users++;
	// Users of the promise get the error. A failed boot is retried by the next call.
	entry.python.catch(() => {
		if (snapshots.get(maxMemoryBytes) === entry) snapshots.delete(maxMemoryBytes);
	});
	return {
		python: entry.python,
		release: () => {
			entry.users--;
			if (entry.users === 0 && snapshots.get(maxMemoryBytes) === entry) snapshots.delete(maxMemoryBytes);
		},
	};
}

/** Boots Python in a separate thread and returns a snapshot of its memory. */
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
