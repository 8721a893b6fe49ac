import {readdirSync, readFileSync} from 'node:fs';
import process from 'node:process';
import test from 'ava';
import {child} from '../../../lib/transports/process/child.js';
import {until} from '../../helpers/program.js';

const openFiles = (): number => readdirSync('/proc/self/fd').length;

/** Whether a process is a child of this one that ended and was not taken note of. */
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

/** A child from its start to its end. */
async function live(isKilled: boolean): Promise<void> {
	const cat = child({name: 'cat', command: 'cat', onStderr: () => {}});
	const said = new Promise<void>(resolve => {
		cat.incoming.subscribe({next: () => {}, error: () => resolve(), complete: () => resolve()});
	});
	if (isKilled) cat.kill();
	await cat.close();
	await said;
	await cat.exited;
}

test.serial('500 children started, and ended or killed, leave no open file and no zombie [E14]', async t => {
	t.timeout(300_000);
	const liveTen = (): Promise<unknown> =>
		Promise.all(Array.from({length: 10}, (_, at) => live(at % 2 === 0)));
	await liveTen();
	const before = openFiles();
	for (let round = 0; round < 50; round++) await liveTen();
	await until(() => openFiles() <= before + 2);
	t.deepEqual(zombies(), []);
});

test.serial('100 commands that cannot be started leave no open file [E14]', async t => {
	t.timeout(60_000);
	const fail = async (): Promise<void> => {
		const none = child({name: 'none', command: 'no-such-command-anywhere', onStderr: () => {}});
		none.incoming.subscribe({error: () => {}});
		await t.throwsAsync(none.exited, {code: 'ERR_COMMAND_UNUSABLE'});
		await none.close();
	};
	for (let round = 0; round < 5; round++) await fail();
	const before = openFiles();
	for (let round = 0; round < 100; round++) await fail();
	// Node closes the pipes of a child that never was in its own time.
	await until(() => openFiles() <= before + 2);
	t.deepEqual(zombies(), []);
});
