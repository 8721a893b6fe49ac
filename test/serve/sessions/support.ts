import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import split2 from 'split2';
import {createLog, type Log} from '../../../lib/core/log.js';
import {SessionRegistry, type SessionRegistryOptions} from '../../../lib/serve/sessions/session-registry.js';

/** Creates a log that records its entries. */
export function recordingLog(): {log: Log; entries(): Promise<Array<{event: string; msg: string}>>} {
	const lines: string[] = [];
	const log = createLog({level: 'trace', write: line => lines.push(line), isPretty: false});
	return {
		log,
		async entries() {
			await log.flush();
			return lines.map(line => JSON.parse(line));
		},
	};
}

/** Opens a registry and closes it after the test. */
export async function openRegistry(
	t: ExecutionContext,
	folder: string,
	options: Partial<SessionRegistryOptions> = {},
): Promise<SessionRegistry> {
	const registry = await SessionRegistry.open({folder, team: 'red', log: recordingLog().log, ...options});
	t.teardown(() => registry.close().catch(() => {}));
	return registry;
}

export type OnDisk = {version: number; sessions: Array<{[key: string]: unknown}>; [key: string]: unknown};

/** Reads the registry file. */
export const onDisk = (folder: string): OnDisk =>
	JSON.parse(readFileSync(join(folder, 'registry.json'), 'utf8'));

/** The path of a program that saves sessions. */
export const saver = fileURLToPath(new URL('../../../fixtures/sessions/saver.js', import.meta.url));

/** Starts the saver. `next` resolves with the next line of its stdout. */
export function startSaver(
	t: ExecutionContext,
	...args: string[]
): {child: ChildProcess; next(): Promise<string>} {
	const child = spawn(process.execPath, [saver, ...args], {stdio: ['pipe', 'pipe', 'inherit']});
	t.teardown(() => child.kill('SIGKILL'));
	const lines = (child.stdout as NonNullable<typeof child.stdout>).pipe(split2())[Symbol.asyncIterator]();
	return {child, next: async () => String((await lines.next()).value)};
}
