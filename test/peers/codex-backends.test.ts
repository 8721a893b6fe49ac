import test from 'ava';
import {codexKinds, startCodex} from './codex-clients.js';
import {failWith, replyAndHold, replyWith, runOutside} from './scripted-model.js';

/* Both real Codex programs behind bridge's backends, with a scripted model. */

const canAsk = {elicitation: {}};
const onRequest = {'approval-policy': 'on-request', sandbox: 'read-only'};

for (const kind of codexKinds) {
	test.serial(`${kind}: starts behind the npm launcher and lists its tools`, async t => {
		const {client} = await startCodex(t, kind);
		t.is(client.backend.kind, kind);
		const {result} = await client.request('tools/list');
		t.like(result, {tools: [{name: 'codex'}, {name: 'codex-reply'}]});
	});

	test.serial(`${kind}: runs a turn and a reply, both with the developer instructions`, async t => {
		const {client, model} = await startCodex(t, kind);
		const made = client.make('codex', {prompt: replyWith('ONE'), 'developer-instructions': 'DEVMARK'});
		const first = await made.answer;
		t.like(first, {status: 'completed', text: 'ONE'});
		const {threadId, rolloutPath} = await client.told('notifications/io.bridge/thread', made.id);
		t.is(threadId, first.threadId);
		t.regex(String(rolloutPath), /rollout-.*\.jsonl$/);
		t.like(await client.reply(threadId, replyWith('TWO')), {status: 'completed', text: 'TWO'});
		t.true(model.lastInput().includes('DEVMARK'));
		t.like(client.news('message'), [{text: 'ONE'}, {text: 'TWO'}]);
	});

	test.serial(`${kind}: runs three threads at once`, async t => {
		const {client} = await startCodex(t, kind);
		const names = ['A', 'B', 'C'];
		const turns = await Promise.all(names.map(name => client.codex(replyWith(name))));
		t.deepEqual(
			turns.map(({text}) => text),
			names,
		);
		const again = await Promise.all(
			turns.map(({threadId, text}) => client.reply(threadId, replyWith(`${text}2`))),
		);
		t.deepEqual(
			again.map(({text}) => text),
			['A2', 'B2', 'C2'],
		);
	});

	test.serial(`${kind}: runs two replies to one thread in sequence`, async t => {
		const {client} = await startCodex(t, kind);
		const {threadId} = await client.codex(replyWith('ONE'));
		const replies = await Promise.all(['TWO', 'THREE'].map(text => client.reply(threadId, replyWith(text))));
		t.deepEqual(
			replies.map(({text}) => text),
			['TWO', 'THREE'],
		);
	});

	test.serial(
		`${kind}: cancellation in mid-turn returns the partial text, and later replies are correct`,
		async t => {
			const {client} = await startCodex(t, kind);
			const {threadId} = await client.codex(replyWith('ONE'));
			const made = client.make('codex-reply', {threadId, prompt: replyAndHold('BEGUN')}, {progressToken: 1});
			await client.message(
				({method, params}) => method === 'notifications/progress' && /Writing/.test(JSON.stringify(params)),
			);
			client.cancel(made);
			t.like(await made.answer, {status: 'interrupted', partial: 'BEGUN'});
			for (const text of ['R1', 'R2', 'R3', 'R4', 'R5'])
				t.like(await client.reply(threadId, replyWith(text)), {status: 'completed', text});
		},
	);

	test.serial(`${kind}: cancels a turn before it starts, in a new thread and in an existing one`, async t => {
		const {client} = await startCodex(t, kind);
		const early = client.make('codex', {prompt: replyAndHold('NO')});
		client.cancel(early);
		const result = await early.answer;
		t.is(result.status, 'interrupted');
		const {threadId} = await client.codex(replyWith('ONE'));
		const reply = client.make('codex-reply', {threadId, prompt: replyAndHold('NO')});
		client.cancel(reply);
		t.is((await reply.answer).status, 'interrupted');
		for (const text of ['R1', 'R2', 'R3'])
			t.like(await client.reply(threadId, replyWith(text)), {status: 'completed', text});
		if (result.threadId !== undefined)
			t.is((await client.reply(result.threadId, replyWith('AGAIN'))).text, 'AGAIN');
	});

	test.serial(`${kind}: reports a failed turn when the model returns an error`, async t => {
		const {client} = await startCodex(t, kind);
		const {threadId} = await client.codex(replyWith('ONE'));
		const broken = await client.reply(threadId, failWith(500));
		t.like(broken, {status: 'failed', isError: true, threadId: String(threadId)});
		const next = await client.reply(threadId, replyWith('TWO'));
		if (kind === 'mcp-server') t.like(next, {status: 'retired', isError: true});
		else t.like(next, {status: 'completed', text: 'TWO'});
		t.is((await client.codex(replyWith('NEW'))).text, 'NEW');
	});

	test.serial(`${kind}: reports unknown_thread for a thread that does not exist`, async t => {
		const {client} = await startCodex(t, kind);
		t.is(
			(await client.reply('01a1e1f8-2672-7211-80ef-000000000000', replyWith('X'))).status,
			'unknown_thread',
		);
		t.is((await client.reply('nonsense', replyWith('X'))).status, 'unknown_thread');
	});

	test.serial(`${kind}: names an approval policy that is no longer supported`, async t => {
		const {client} = await startCodex(t, kind);
		const {text, status} = await client.codex(replyWith('X'), {'approval-policy': 'on-failure'});
		t.is(status, 'failed');
		t.regex(text, /no longer supports the approval policy on-failure/);
	});

	for (const [action, expected] of [
		['accept', /DID-IT/],
		['decline', /[Rr]ejected/],
	] as const)
		test.serial(`${kind}: forwards an approval and applies the client's ${action}`, async t => {
			const {client} = await startCodex(t, kind, canAsk);
			const made = client.make('codex', {prompt: runOutside('echo DID-IT'), ...onRequest});
			const {params, answer} = await client.question();
			t.regex(String(params.message), /echo DID-IT/);
			answer({action, content: {}});
			const turn = await made.answer;
			t.is(turn.status, 'completed');
			t.regex(turn.text, expected);
			t.is((await client.reply(turn.threadId, replyWith('TWO'))).text, 'TWO');
		});

	test.serial(`${kind}: interrupts the turn when the client dismisses an approval`, async t => {
		const {client} = await startCodex(t, kind, canAsk);
		const made = client.make('codex', {prompt: runOutside('echo DID-IT'), ...onRequest});
		(await client.question()).answer({action: 'cancel'});
		const turn = await made.answer;
		t.is(turn.status, 'interrupted');
		for (const text of ['R1', 'R2']) t.is((await client.reply(turn.threadId, replyWith(text))).text, text);
	});

	test.serial(`${kind}: declines an approval at once if the client does not support elicitation`, async t => {
		const {client} = await startCodex(t, kind);
		const turn = await client.codex(runOutside('echo DID-IT'), onRequest);
		t.is(turn.status, 'completed');
		t.regex(turn.text, /[Rr]ejected/);
		t.true(client.news('warning').some(({message}) => /does not support elicitation/.test(String(message))));
	});

	test.serial(`${kind}: cancels a pending approval with its turn`, async t => {
		const {client} = await startCodex(t, kind, canAsk);
		const made = client.make('codex', {prompt: runOutside('echo DID-IT'), ...onRequest});
		const {id} = await client.question();
		client.cancel(made);
		const turn = await made.answer;
		t.is(turn.status, 'interrupted');
		t.like(await client.told('notifications/cancelled'), {requestId: id});
		for (const text of ['R1', 'R2', 'R3'])
			t.is((await client.reply(turn.threadId, replyWith(text))).text, text);
	});
}
