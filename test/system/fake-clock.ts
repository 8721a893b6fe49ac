import {renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import {tempFolder} from '../helpers/temp-folder.js';
import {need, run} from './tools.js';

const DAY = 86_400_000;

/** The date that is `days` days from now, as YYYY-MM-DD. */
export const dayOf = (days: number): string => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

/**
 * A wall clock that the test sets for processes with this environment. The monotonic clock is not
 * affected.
 */
export function fakeClock(t: ExecutionContext): {env: NodeJS.ProcessEnv; setClock(days: number): void} {
	need('faketime');
	const rc = join(tempFolder(t), 'faketime');
	const setClock = (days: number): void => {
		writeFileSync(`${rc}.new`, `${days < 0 ? '' : '+'}${days}d\n`);
		renameSync(`${rc}.new`, rc);
	};
	setClock(0);
	const env = {
		...process.env,
		LD_PRELOAD: run('faketime', '-f', '+0', 'printenv', 'LD_PRELOAD'),
		FAKETIME_TIMESTAMP_FILE: rc,
		FAKETIME_NO_CACHE: '1',
		FAKETIME_DONT_FAKE_MONOTONIC: '1',
		DONT_FAKE_MONOTONIC: '1',
	};
	return {env, setClock};
}
