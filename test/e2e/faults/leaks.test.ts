import {readdirSync, readFileSync} from 'node:fs';
import process from 'node:process';
import test from 'ava';
import {child} from '../../../lib/transports/process/child.js';
import {until} from '../../helpers/program.js';

const openFiles = (): number => readdirSync('/proc/self/fd').length;

/** Whether a process is an ended child of this one that was not reaped. */
function isZombie(pid: string): boolean {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return state === 'Z' && parent === String(process.pid);
	} catch {
		return false;
	}
}

const zombies = (): string[] => readdirSync('/proc').filter(isZombie);

/** Starts a child and waits until it has exited. */
async function startAndEnd(isKilled: boolean): Promise<void> {
	const cat = child({name: 'cat', command: 'cat', onStderr: () => {}});
	const completed = new Promise<void>(resolve => {
		cat.incoming.subscribe({next: () => {}, error: () => resolve(), complete: () => resolve()});
	});
	if (isKilled) cat.kill();
	await cat.close();
	await completed;
	await cat.exited;
}

test.serial('500 children that exit or are killed leave no open files or zombies [E14]', async t => {
	t.timeout(300_000);
	const startTen = (): Promise<unknown> =>
		Promise.all(Array.from({length: 10}, (_, at) => startAndEnd(at % 2 === 0)));
	await startTen();
	const before = openFiles();
	for (let round = 0; round < 50; round++) await startTen();
	await until(() => openFiles() <= before + 2);
	t.deepEqual(zombies(), []);
});

test.serial('100 commands that cannot be started leave no open file [E14]', async t => {
	t.timeout(60_000);
	const startMissing = async (): Promise<void> => {
		const missing = child({name: 'missing', command: 'no-such-command-anywhere', onStderr: () => {}});
		missing.incoming.subscribe({error: () => {}});
		await t.throwsAsync(missing.exited, {code: 'ERR_COMMAND_UNUSABLE'});
		await missing.close();
	};
	for (let round = 0; round < 5; round++) await startMissing();
	const before = openFiles();
	for (let round = 0; round < 100; round++) await startMissing();
	// Node closes the pipes of a child that failed to start with a delay.
	await until(() => openFiles() <= before + 2);
	t.deepEqual(zombies(), []);
});
