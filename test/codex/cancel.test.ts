import test from 'ava';
import {fakeKinds, startFake} from '../helpers/fake-codex.js';

/* Turns that are given up, on both kinds of Codex. */

for (const kind of fakeKinds) {
	test(`${kind}: a cancellation in mid-turn is answered with what was said by then, and the next replies are right`, async t => {
		const client = await startFake(t, kind);
		const {threadId} = await client.codex('say:ONE');
		const made = client.make(
			'codex-reply',
			{threadId, prompt: 'stream:1\nsay:ABCD\nslow'},
			{progressToken: 'p'},
		);
		await client.told('notifications/progress');
		client.cancel(made);
		t.like(await made.answer, {
			status: 'interrupted',
			partial: 'ABCD',
			isError: true,
			threadId: String(threadId),
		});
		for (const text of ['R1', 'R2', 'R3', 'R4'])
			t.like(await client.reply(threadId, `say:${text}`), {status: 'completed', text});
	});

	test(`${kind}: a cancellation before the turn has started is not lost`, async t => {
		const client = await startFake(t, kind);
		const early = client.make('codex', {prompt: 'late:100\nslow'});
		client.cancel(early);
		t.like(await early.answer, {status: 'interrupted', partial: ''});
		const {threadId} = await client.codex('say:ONE');
		const reply = client.make('codex-reply', {threadId, prompt: 'late:50\nslow'});
		client.cancel(reply);
		t.is((await reply.answer).status, 'interrupted');
		t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
	});

	test(`${kind}: who waits for a thread and cancels is answered at once, and the turn there goes on`, async t => {
		const client = await startFake(t, kind);
		const {threadId} = await client.codex('say:ONE');
		const running = client.make('codex-reply', {threadId, prompt: 'approve:ls\nsay:TWO\nslow:50'});
		const waiting = client.make('codex-reply', {threadId, prompt: 'say:NEVER'});
		client.cancel(waiting);
		t.is((await waiting.answer).status, 'interrupted');
		t.is((await running.answer).text, 'TWO');
		t.notRegex((await client.reply(threadId, 'show:prompts')).text, /NEVER/);
	});

	test(`${kind}: a Codex that does not stop: the call is answered all the same, and its thread is busy`, async t => {
		const client = await startFake(t, kind, {}, {cancelGraceMs: 30});
		const {threadId} = await client.codex('say:ONE');
		const made = client.make('codex-reply', {threadId, prompt: 'stubborn\nslow\nsay:NEVER'});
		await client.told('notifications/io.bridge/turn_started', made.id);
		client.cancel(made);
		t.is((await made.answer).status, 'interrupted');
		const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
		t.is((await client.codex('say:OTHER')).text, 'OTHER');
		client.cancel(next);
		t.is((await next.answer).status, 'interrupted');
		t.is(client.heard.filter(({id, method}) => id === made.id && method === undefined).length, 1);
	});

	test(`${kind}: cancelling what is over, or never was, changes nothing`, async t => {
		const client = await startFake(t, kind);
		const made = client.make('codex', {prompt: 'say:ONE'});
		const {threadId} = await made.answer;
		client.cancel(made);
		client.cancel({...made, id: 999});
		t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
	});
}
