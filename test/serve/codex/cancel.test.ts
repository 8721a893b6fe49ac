import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {until} from '../../e2e/mail-turns/place.js';
import {fakeKinds, startFake} from '../../helpers/fake-codex.js';
import {tempFolder} from '../../helpers/temp-folder.js';

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

for (const kind of fakeKinds) {
	test(`${kind}: a turn that Codex drops frees its thread once it is cancelled [S-D1]`, async t => {
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

	test(`${kind}: a turn that does not start in time is given up, and the next one on its thread runs [S-D1]`, async t => {
		const client = await startFake(t, kind, {}, {cancelGraceMs: 50, acknowledgeMs: 100, startMs: 4000});
		const {threadId} = await client.codex('say:ONE');
		const dropped = client.make('codex-reply', {threadId, prompt: 'drop'});
		const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
		t.like(await dropped.answer, {status: 'failed', threadId: String(threadId)});
		t.regex((await dropped.answer).text, /did not start the turn within 4 s/);
		t.is((await next.answer).text, 'NEXT');
	});

	test(`${kind}: a thread whose turn does not end is retired, and calls that wait for it are rejected [S-D1]`, async t => {
		const client = await startFake(t, kind, {}, {cancelGraceMs: 30, stuckMs: 100});
		const {threadId} = await client.codex('say:ONE');
		const made = client.make('codex-reply', {threadId, prompt: 'stubborn\nslow\nsay:NEVER'});
		await client.told('notifications/io.bridge/turn_started', made.id);
		client.cancel(made);
		const next = client.make('codex-reply', {threadId, prompt: 'say:NEXT'});
		t.like(await next.answer, {status: 'retired'});
		t.regex((await client.reply(threadId, 'say:LATER')).text, /cannot be used any more, since a turn/);
	});

	test(`${kind}: lone surrogates are replaced in all that Codex is sent [S-D1]`, async t => {
		const client = await startFake(t, kind);
		const {threadId, text} = await client.codex('show:prompts\nhalf \ud83d, whole \ud83d\ude00');
		t.deepEqual(JSON.parse(text), ['show:prompts\nhalf \ufffd, whole \ud83d\ude00']);
		t.is((await client.reply(threadId, 'say:\udc00 \\ud800')).text, '\ufffd \\ud800');
	});
}

/* A call whose thread was freed before Codex had reported anything of its turn, which starts after that. */
const freeing = {cancelGraceMs: 30, acknowledgeMs: 30};

test('mcp-server: a cancelled turn that starts after its thread was freed is interrupted [S-D1]', async t => {
	const client = await startFake(t, 'mcp-server', {}, freeing);
	const {threadId} = await client.codex('say:ONE');
	const late = client.make('codex-reply', {threadId, prompt: 'unseen\nlate:1000\nslow\nsay:NEVER'});
	client.cancel(late);
	t.is((await late.answer).status, 'interrupted');
	await client.told('notifications/io.bridge/turn_started', late.id);
	// It waits until Codex has confirmed the interruption. Without one, the turn would take its prompt in.
	t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
	t.is((await client.reply(threadId, 'say:THREE')).text, 'THREE');
});

test('mcp-server: a call does not get the result of a cancelled turn that starts late, and its thread is retired [S-D1]', async t => {
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
