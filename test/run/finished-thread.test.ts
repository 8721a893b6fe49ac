import test, {type ExecutionContext} from 'ava';
import {PythonInterpreter} from '../../lib/run/python/interpreter.js';
import {acquireSnapshot} from '../../lib/run/python/shared-snapshot.js';

const MIB = 2 ** 20;
const limits = {maxOutputBytes: MIB, maxOutcomeBytes: 4 * MIB, maxAttempts: 200};
const python = acquireSnapshot(96 * MIB);
test.after.always(() => python.release());

/** Runs a program to its outcome. The events of its thread after that are added to the list. */
async function finished(t: ExecutionContext): Promise<{readonly ends: string[]}> {
	const session = await PythonInterpreter.start(await python.python, limits);
	t.teardown(() => session.terminate());
	const ends: string[] = [];
	await new Promise<void>((resolve, reject) => {
		session.listen(
			{
				onLine: text => (text.startsWith('{"done"') ? resolve() : reject(new Error(text))),
				onEnd: (why, detail) => ends.push(`${why}: ${detail}`),
			},
			MIB,
		);
		session.send(JSON.stringify({code: 'pass; 1', packs: [], max_calls: 100}));
	});
	return {ends};
}

// A thread that exits on its own can block all background threads of the process on Node 24: see waitForTermination.
test('the thread of a finished program does not exit before it is terminated [SEC-D2]', async t => {
	const {ends} = await finished(t);
	// Other programs start, run and finish in the meantime, which takes far longer than the exit of a thread.
	for (let count = 0; count < 3; count++) await finished(t);
	t.false(ends.includes('fault: Its thread ended.'), ends.join('; '));
});
