import test from 'ava';
import fc from 'fast-check';
import {fakeKinds, startFake} from '../../helpers/fake-codex.js';

/* Calls in random order, some of them cancelled. */

const step = fc.record({
	thread: fc.nat(2),
	prompt: fc.constantFrom('', 'late:3\n', 'slow:3\n', 'stream:3\nslow:4\n'),
	cancelAfterMs: fc.option(fc.nat(8)),
	pauseMs: fc.nat(4),
});

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

for (const kind of fakeKinds)
	test(`${kind}: responds to each call exactly once, with its own result`, async t => {
		t.timeout(120_000);
		const client = await startFake(t, kind);
		await fc.assert(
			fc.asyncProperty(fc.array(step, {maxLength: 12}), async steps => {
				const threads = await Promise.all([0, 1, 2].map(name => client.codex(`say:${name}`)));
				const made = [];
				for (const [at, {thread, prompt, cancelAfterMs, pauseMs}] of steps.entries()) {
					const args = {threadId: threads[thread]?.threadId, prompt: `${prompt}say:${thread}.${at}`};
					const call = client.make('codex-reply', args);
					made.push({call, text: `${thread}.${at}`, isCancelled: cancelAfterMs !== null});
					if (cancelAfterMs !== null) void wait(cancelAfterMs).then(() => client.cancel(call));
					await wait(pauseMs);
				}
				for (const {call, text, isCancelled} of made) {
					const turn = await call.answer;
					if (turn.status !== 'interrupted' || !isCancelled) t.like(turn, {status: 'completed', text});
					t.is(client.heard.filter(({id, method}) => id === call.id && method === undefined).length, 1);
				}
			}),
			{numRuns: 25},
		);
	});
