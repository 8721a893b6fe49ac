import test, {type ExecutionContext} from 'ava';
import {PythonInterpreter} from '../../lib/run/python/interpreter.js';
import {acquireSnapshot} from '../../lib/run/python/shared-snapshot.js';

const MIB = 2 ** 20;
const limits = {maxOutputBytes: MIB, maxOutcomeBytes: 4 * MIB, maxAttempts: 200};
const python = acquireSnapshot(96 * MIB);
test.after.always(() => python.release());

/** Runs a program until it has sent its outcome. `ends` collects the later events of its thread. */
async function runToOutcome(t: ExecutionContext): Promise<{readonly ends: string[]}> {
	const interpreter = await PythonInterpreter.start(await python.python, limits);
	t.teardown(() => interpreter.terminate());
	const ends: string[] = [];
	await new Promise<void>((resolve, reject) => {
		interpreter.listen(
			{
				onLine: text => (text.startsWith('{"done"') ? resolve() : reject(new Error(text))),
				onEnd: (reason, detail) => ends.push(`${reason}: ${detail}`),
			},
			MIB,
		);
		interpreter.send(JSON.stringify({code: 'pass; 1', packs: [], max_calls: 100}));
	});
	return {ends};
}

// On Node 24, a thread that exits on its own can block all background threads of the process: see
// waitForTermination.
test('the thread of a finished program does not exit before it is terminated [SEC-D2]', async t => {
	const {ends} = await runToOutcome(t);
	// Running other programs takes far longer than the exit of a thread.
	for (let count = 0; count < 3; count++) await runToOutcome(t);
	t.false(ends.includes('fault: Its thread exited.'), ends.join('; '));
});
