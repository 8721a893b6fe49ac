import {once} from 'node:events';
import process from 'node:process';
import test from 'ava';
import {readProcesses} from '../../../lib/transports/process/process-list.js';
import {READY, STAYS, startProcess} from './programs.js';

test.serial('shares one read of the process list among pending callers [SEC-D16]', async t => {
	const [first, ...others] = await Promise.all(Array.from({length: 100}, readProcesses));
	t.true(others.every(other => other === first));
	t.not(await readProcesses(), first);
});

test.serial('finds a process that was started just before the call [SEC-D16]', async t => {
	await readProcesses();
	const started = startProcess(t, `${READY} ${STAYS}`, {});
	await once(started.stdout ?? process.stdin, 'data');
	t.true((await readProcesses()).some(({pid}) => pid === started.pid));
});
