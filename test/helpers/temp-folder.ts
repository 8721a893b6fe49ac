import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import type {MessageOrigin} from '../../lib/core/envelope.js';
import type {TrafficLog} from '../../lib/traffic-log/traffic-log.js';
import {readNdjson} from './ndjson.js';

/** A folder that is removed after the test. */
export function tempFolder(t: ExecutionContext): string {
	const folder = mkdtempSync(join(tmpdir(), 'bridge-test-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return folder;
}

export type LogLine = {readonly time: string; readonly [key: string]: unknown};

/** The lines of a traffic log. Throws if a line is not JSON, or the last line is incomplete. */
export const readLog = (file: string): LogLine[] => readNdjson(file);

/** The number of complete lines in a file, or 0 if it does not exist. */
export function lineCount(file: string): number {
	try {
		return readFileSync(file, 'latin1').match(/\n/g)?.length ?? 0;
	} catch {
		return 0;
	}
}

/**
 * Adds a line with one member besides its time. The value is a separate chunk, like the body of a message.
 */
export function addLine(log: TrafficLog, key: string, value: unknown, origin?: MessageOrigin): void {
	log.add([Buffer.from(`","${key}":`), Buffer.from(JSON.stringify(value)), Buffer.from('}\n')], origin);
}

/** Adds a line as one chunk, like that of an invalid message. */
export function addFrame(log: TrafficLog, key: string, value: unknown): void {
	log.add([Buffer.from(`","${key}":${JSON.stringify(value)}}\n`)]);
}
