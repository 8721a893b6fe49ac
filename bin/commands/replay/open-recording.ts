import {statSync} from 'node:fs';
import process from 'node:process';
import type {Log} from '../../../lib/core/log.js';
import {Recording} from '../../../lib/replay/recording.js';
import {listLogFiles} from '../../../lib/traffic-log/log-files.js';
import {ProgressBar} from './progress-bar.js';

/** Creates a progress bar on stderr. It is only visible on a terminal. */
export const createProgressBar = (): ProgressBar =>
	new ProgressBar(process.stderr.isTTY ? text => void process.stderr.write(text) : undefined);

/** Reads a log and shows the progress. */
export async function openRecording(
	path: string,
	{conn}: {readonly conn: string | undefined},
	bar: ProgressBar,
): Promise<Recording> {
	const files = listLogFiles([path.replace(/^@/, '')]);
	const all = files.reduce((sum, file) => sum + statSync(file.path).size, 0);
	let done = 0;
	const recording = await Recording.open(path, files, conn, bytes => {
		done += bytes;
		bar.show('Reading', done, all);
	});
	bar.clear();
	return recording;
}

/** Warns about broken or missing lines in a log. */
export function warnIncomplete({contents: {brokenLines, gapLines}}: Recording, log: Log): void {
	if (brokenLines > 0) log.warn('replay.broken', `Unreadable lines were skipped: ${brokenLines}.`);
	if (gapLines > 0)
		log.warn('replay.gap', `The recording is incomplete. Lines missing from the log: ${gapLines}.`);
}
