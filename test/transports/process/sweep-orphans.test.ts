import {once} from 'node:events';
import test from 'ava';
import {sweepOrphans} from '../../../lib/transports/process/sweep-orphans.js';
import {createMark, MARK_VARIABLE} from '../../../lib/util/process-tree.js';
import {readableLog} from '../../helpers/pipeline.js';
import {IGNORES_SIGTERM, isRunning, READY, STAYS, startProcess} from './programs.js';

/** The mark of a bridge that has exited. */
const deadMark = (): string => createMark().replace(/:\d+:\d+:(?=\w+$)/, ':1:never:');

test.serial(
	'terminates children that a killed bridge left running, also those that ignore SIGTERM',
	async t => {
		const sources = [`${READY} ${STAYS}`, `${IGNORES_SIGTERM} ${READY} ${STAYS}`];
		const orphans = sources.map(source => startProcess(t, source, {[MARK_VARIABLE]: deadMark()}));
		const exits = orphans.map(started => once(started, 'exit'));
		const {log} = readableLog();
		// Another bridge on this machine may have terminated them already.
		await Promise.all([sweepOrphans(log)(), ...exits]);
		for (const {pid = 0} of orphans) t.false(isRunning(pid));
	},
);

test.serial('does not terminate the children of a running bridge', async t => {
	const started = startProcess(t, STAYS, {[MARK_VARIABLE]: createMark()});
	const {log, entries} = readableLog();
	await sweepOrphans(log)();
	t.true(isRunning(started.pid ?? 0));
	for (const {pids} of await entries()) t.false((pids as number[]).includes(started.pid ?? 0));
});

test.serial('runs only once', async t => {
	const {log} = readableLog();
	const sweep = sweepOrphans(log);
	t.is(sweep(), sweep());
	await sweep();
});
