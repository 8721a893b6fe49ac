import {once} from 'node:events';
import test from 'ava';
import {sweepOrphans} from '../../../lib/transports/process/sweep-orphans.js';
import {createMark, MARK_VARIABLE} from '../../../lib/util/process-tree.js';
import {readableLog} from '../../helpers/pipeline.js';
import {DEAF, isRunning, READY, STAYS, startProcess} from './programs.js';

/** The mark of a bridge that is no more. */
const deadMark = (): string => createMark().replace(/:\d+:\d+:(?=\w+$)/, ':1:never:');

test.serial('ends what a killed bridge left running, however deaf', async t => {
	const sources = [`${READY} ${STAYS}`, `${DEAF} ${READY} ${STAYS}`];
	const left = sources.map(source => startProcess(t, source, {[MARK_VARIABLE]: deadMark()}));
	const exits = left.map(started => once(started, 'exit'));
	const {log} = readableLog();
	// Another bridge on this machine may be there first: what counts is that they are gone.
	await Promise.all([sweepOrphans(log)(), ...exits]);
	for (const {pid = 0} of left) t.false(isRunning(pid));
});

test.serial('leaves the children of a living bridge alone', async t => {
	const started = startProcess(t, STAYS, {[MARK_VARIABLE]: createMark()});
	const {log, entries} = readableLog();
	await sweepOrphans(log)();
	t.true(isRunning(started.pid ?? 0));
	for (const {pids} of await entries()) t.false((pids as number[]).includes(started.pid ?? 0));
});

test.serial('is done once, however often it is asked for', async t => {
	const {log} = readableLog();
	const sweep = sweepOrphans(log);
	t.is(sweep(), sweep());
	await sweep();
});
