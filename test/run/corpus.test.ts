import test, {type ExecutionContext} from 'ava';
import {extractSource} from '../../lib/run/extract-source.js';
import {compilePlainProgram} from '../../lib/run/plain-program.js';
import {type Expected, expected, forInterpreter, runnerOf, world} from './support.js';

// All tests share one runner. Each program gets its own interpreter.
const runner = runnerOf(world, {runTimeoutMs: 600_000, maxConcurrent: 2, maxQueued: 1000});
test.after.always(() => runner.close());

const compare = async (
	t: ExecutionContext,
	{source, stdout, value, error}: Expected,
	isProgram: boolean,
): Promise<void> => {
	const {isError, structuredContent, content} = await runner.run(source);
	t.is(structuredContent.stdout ?? '', stdout);
	t.is(structuredContent.error?.type, error, JSON.stringify(content));
	t.is(isError, error !== undefined);
	if (!isProgram || value === undefined) return;
	const [first] = content;
	t.deepEqual(first, {type: 'text', text: stdout + value});
};

test('the corpus has at least 24 programs and 120 snippets', t => {
	t.true(expected.programs.length >= 24);
	t.true(expected.snippets.length >= 120);
});

for (const program of expected.programs) {
	test(`returns the same as CPython: program ${program.name}`, t => compare(t, program, true));
}

for (const snippet of expected.snippets) {
	test(`prints the same as CPython: ${snippet.name}`, t => compare(t, snippet, false));
}

test('plain programs of the corpus return the same in the interpreter', async t => {
	const names = new Set([...world.map(({name}) => name), 'proxy']);
	let plain = 0;
	for (const {source, name} of [...expected.programs, ...expected.snippets]) {
		const code = extractSource(source);
		if (!(await compilePlainProgram(code, names))) continue;
		plain++;
		t.deepEqual(await runner.run(forInterpreter(code)), await runner.run(code), name);
	}
	t.true(plain > 0, 'the corpus has plain programs');
});
