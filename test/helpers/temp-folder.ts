import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import type {MessageOrigin} from '../../lib/core/envelope.js';
import type {TrafficLog} from '../../lib/traffic-log/traffic-log.js';
import {readNdjson} from './ndjson.js';

/** A folder of its own for a test, which is gone after it. */
export function tempFolder(t: ExecutionContext): string {
	const folder = mkdtempSync(join(tmpdir(), 'bridge-test-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return folder;
}

export type LogLine = {readonly time: string; readonly [key: string]: unknown};

/** The lines of a traffic log. Fails where one of them is no JSON or the last one is torn. */
export const readLog = (file: string): LogLine[] => readNdjson(file);

/** How many lines are in a file so far, which may be being written, or not be there. */
export function lineCount(file: string): number {
	try {
		return readFileSync(file, 'latin1').match(/\n/g)?.length ?? 0;
	} catch {
		return 0;
	}
}

/** Adds a line with one member beside its time: large values as a message's body, small ones as part of its frame. */
export function addLine(log: TrafficLog, key: string, value: unknown, origin?: MessageOrigin): void {
	log.add([Buffer.from(`","${key}":`), Buffer.from(JSON.stringify(value)), Buffer.from('}\n')], origin);
}

/** Adds a line as it is done for what is no message: all of it is frame. */
export function addFrame(log: TrafficLog, key: string, value: unknown): void {
	log.add([Buffer.from(`","${key}":${JSON.stringify(value)}}\n`)]);
}
