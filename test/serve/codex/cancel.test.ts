import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {until} from '../../e2e/mail-turns/place.js';
import {fakeKinds, startFake} from '../../helpers/fake-codex.js';
import {tempFolder} from '../../helpers/temp-folder.js';

/* Cancelled turns, with both interfaces of Codex. */

for (const kind of fakeKinds) {
	test(`${kind}: returns the partial text of a turn that is cancelled, and runs the next turns normally`, async t => {
		const client = await startFake(t, kind);
		const {threadId} = await client.codex('say:ONE');
		const call = client.make(
			'codex-reply',
			{threadId, prompt: 'stream:1\nsay:ABCD\nslow'},
			{progressToken: 'p'},
		);
		await client.told('notifications/progress');
		client.cancel(call);
		t.like(await call.answer, {
			status: 'interrupted',
			partial: 'ABCD',
			isError: true,
			threadId: String(threadId),
		});
		for (const text of ['R1', 'R2', 'R3', 'R4'])
			t.like(await client.reply(threadId, `say:${text}`), {status: 'completed', text});
	});

	test(`${kind}: applies a cancellation that arrives before the turn starts`, async t => {
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

	test(`${kind}: responds immediately to a queued call that is cancelled, and the running turn continues`, async t => {
		const client = await startFake(t, kind);
		const {threadId} = await client.codex('say:ONE');
		const running = client.make('codex-reply', {threadId, prompt: 'approve:ls\nsay:TWO\nslow:50'});
		const waiting = client.make('codex-reply', {threadId, prompt: 'say:NEVER'});
		client.cancel(waiting);
		t.is((await waiting.answer).status, 'interrupted');
		t.is((await running.answer).text, 'TWO');
		t.notRegex((await client.reply(threadId, 'show:prompts')).text, /NEVER/);
	});

	test(`${kind}: responds to a cancelled call even if Codex does not stop, and keeps its thread busy`, async t => {
		const client = await startFake(t, kind, {}, {cancelGraceMs: 30});
		const {threadId} = await client.codex('say:ONE');
		const call = client.make('codex-reply', {threadId, prompt: 'stubborn\nslow\nsay:NEVER'});
		await client.told('notifications/io.bridge/turn_started', call.id);
		client.cancel(call);
		t.is((await call.answer).status, 'interrupted');
		const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
		t.is((await client.codex('say:OTHER')).text, 'OTHER');
		client.cancel(next);
		t.is((await next.answer).status, 'interrupted');
		t.is(client.heard.filter(({id, method}) => id === call.id && method === undefined).length, 1);
	});

	test(`${kind}: ignores the cancellation of a completed or unknown call`, async t => {
		const client = await startFake(t, kind);
		const call = client.make('codex', {prompt: 'say:ONE'});
		const {threadId} = await call.answer;
		client.cancel(call);
		client.cancel({...call, id: 999});
		t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
	});
}

for (const kind of fakeKinds) {
	test(`${kind}: frees the thread of a turn that Codex dropped once its call is cancelled [S-D1]`, async t => {
		const client = await startFake(t, kind, {}, {cancelGraceMs: 50, acknowledgeMs: 100});
		const {threadId} = await client.codex('say:ONE');
		const dropped = client.make('codex-reply', {threadId, prompt: 'drop'});
		const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
		client.cancel(dropped);
		t.is((await dropped.answer).status, 'interrupted');
		t.is((await next.answer).text, 'NEXT');
		const first = client.make('codex', {prompt: 'drop'});
		client.cancel(first);
		t.is((await first.answer).status, 'interrupted');
	});

	test(`${kind}: abandons a turn that does not start in time, and runs the next one on its thread [S-D1]`, async t => {
		const client = await startFake(t, kind, {}, {cancelGraceMs: 50, acknowledgeMs: 100, startMs: 4000});
		const {threadId} = await client.codex('say:ONE');
		const dropped = client.make('codex-reply', {threadId, prompt: 'drop'});
		const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
		t.like(await dropped.answer, {status: 'failed', threadId: String(threadId)});
		t.regex((await dropped.answer).text, /did not start the turn within 4 s/);
		t.is((await next.answer).text, 'NEXT');
	});

	test(`${kind}: retires a thread whose turn does not end, and rejects its queued calls [S-D1]`, async t => {
		const client = await startFake(t, kind, {}, {cancelGraceMs: 30, stuckMs: 100});
		const {threadId} = await client.codex('say:ONE');
		const call = client.make('codex-reply', {threadId, prompt: 'stubborn\nslow\nsay:NEVER'});
		await client.told('notifications/io.bridge/turn_started', call.id);
		client.cancel(call);
		const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
		t.like(await next.answer, {status: 'retired'});
		t.regex((await client.reply(threadId, 'say:LATER')).text, /can no longer be used because a turn/);
	});

	test(`${kind}: replaces lone surrogates in messages to Codex [S-D1]`, async t => {
		const client = await startFake(t, kind);
		const {threadId, text} = await client.codex('show:prompts\nhalf \ud83d, whole \ud83d\ude00');
		t.deepEqual(JSON.parse(text), ['show:prompts\nhalf \ufffd, whole \ud83d\ude00']);
		t.is((await client.reply(threadId, 'say:\udc00 \\ud800')).text, '\ufffd \\ud800');
	});
}

/* Limits that free the thread of a cancelled call before Codex reports its turn, which starts later. */
const freeing = {cancelGraceMs: 30, acknowledgeMs: 30};

test('mcp-server: interrupts a cancelled turn that starts after its thread was freed [S-D1]', async t => {
	const client = await startFake(t, 'mcp-server', {}, freeing);
	const {threadId} = await client.codex('say:ONE');
	const late = client.make('codex-reply', {threadId, prompt: 'unseen\nlate:1000\nslow\nsay:NEVER'});
	client.cancel(late);
	t.is((await late.answer).status, 'interrupted');
	await client.told('notifications/io.bridge/turn_started', late.id);
	// This call is queued until Codex confirms the interruption. Otherwise the cancelled turn would consume its
	// prompt.
	t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
	t.is((await client.reply(threadId, 'say:THREE')).text, 'THREE');
});

test('mcp-server: retires the thread of a cancelled turn that starts late, so that its result reaches no other call [S-D1]', async t => {
	const client = await startFake(t, 'mcp-server', {}, {...freeing, logLevel: 'trace'});
	const {threadId} = await client.codex('say:ONE');
	const start = join(tempFolder(t), 'start');
	const prompt = `unseen\nafter:${start}\nslow:100\nsay:CANCELLED`;
	const late = client.make('codex-reply', {threadId, prompt});
	const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
	client.cancel(late);
	t.is((await late.answer).status, 'interrupted');
	await until(async () => (await client.logged()).some(({msg}) => msg.includes('"say:NEXT"')));
	writeFileSync(start, '');
	const {status, isError} = await next.answer;
	t.true(status === 'retired' || status === 'failed', status);
	t.true(isError);
	t.like(await client.reply(threadId, 'say:LATER'), {status: 'retired'});
	t.is((await client.codex('say:OTHER')).text, 'OTHER');
});
