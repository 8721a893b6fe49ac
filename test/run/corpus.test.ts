import test, {type ExecutionContext} from 'ava';
import {type Expected, expected, runnerOf, world} from './support.js';

// One for all, as in life: each program gets an interpreter of its own all the same.
const runner = runnerOf(world, {runTimeoutMs: 600_000, maxConcurrent: 2, maxWaiting: 1000});
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

test('there are programs and snippets enough', t => {
	t.true(expected.programs.length >= 24);
	t.true(expected.snippets.length >= 120);
});

for (const program of expected.programs) {
	test(`gives what Python gives: program ${program.name}`, t => compare(t, program, true));
}

for (const snippet of expected.snippets) {
	test(`prints what Python prints: ${snippet.name}`, t => compare(t, snippet, false));
}
