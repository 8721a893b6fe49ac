import test from 'ava';
import {fakeKinds, startFake} from '../../helpers/fake-codex.js';

/* Approvals, with both interfaces of Codex. */

const withElicitation = {elicitation: {}};

for (const kind of fakeKinds) {
	test(`${kind}: runs the command when the client accepts the approval`, async t => {
		const client = await startFake(t, kind, withElicitation);
		const call = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {params, answer} = await client.question();
		const {threadId} = await client.told('notifications/io.bridge/thread', call.id);
		t.like(params, {requestedSchema: {type: 'object'}, _meta: {'io.bridge/thread': threadId}});
		t.regex(String(params.message), /touch x/);
		answer({action: 'accept', content: {}});
		t.like(await call.answer, {status: 'completed', text: 'ran: touch x'});
		t.is(client.news('command_finished').length, 1);
	});

	for (const [title, result] of [
		['a refusal', {action: 'decline'}],
		['an invalid action', {action: 'perhaps'}],
	] as const)
		test(`${kind}: does not run the command when the client responds with ${title}`, async t => {
			const client = await startFake(t, kind, withElicitation);
			const call = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
			(await client.question()).answer(result);
			t.like(await call.answer, {status: 'completed', text: 'refused: touch x'});
		});

	test(`${kind}: treats an error response to an approval as a refusal`, async t => {
		const client = await startFake(t, kind, withElicitation);
		const call = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {id} = await client.question();
		client.say({id, error: {code: -32603, message: 'Oh.'}});
		t.is((await call.answer).text, 'refused: touch x');
	});

	test(`${kind}: stops the turn when the user dismisses the approval`, async t => {
		const client = await startFake(t, kind, withElicitation);
		const call = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		(await client.question()).answer({action: 'cancel'});
		const {status, threadId} = await call.answer;
		t.is(status, 'interrupted');
		t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
	});

	test(`${kind}: declines approvals immediately, with a warning, if the client does not support elicitation`, async t => {
		const client = await startFake(t, kind);
		const turn = await client.codex('approve:touch x', {'approval-policy': 'on-request'});
		t.is(turn.text, 'refused: touch x');
		t.true(client.news('warning').some(({message}) => /does not support elicitation/.test(String(message))));
		t.false(client.heard.some(({method}) => method === 'elicitation/create'));
	});

	test(`${kind}: withdraws a pending approval when its turn is cancelled`, async t => {
		const client = await startFake(t, kind, withElicitation);
		const call = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {id, answer} = await client.question();
		client.cancel(call);
		t.is((await call.answer).status, 'interrupted');
		t.like(await client.told('notifications/cancelled'), {requestId: id});
		// This response arrives too late and has no effect.
		answer({action: 'accept'});
		t.is((await client.reply((await call.answer).threadId, 'say:TWO')).text, 'TWO');
	});

	test(`${kind}: declines an approval without a response after the time limit [S-D3]`, async t => {
		const client = await startFake(t, kind, withElicitation, {approvalMs: 50});
		const call = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {id, answer} = await client.question();
		// The time limit of the turn resumes here.
		t.like(await client.told('notifications/cancelled'), {requestId: id});
		t.like(await call.answer, {status: 'completed', text: 'refused: touch x'});
		answer({action: 'accept'});
		const expired = (await client.logged()).find(({event}) => event === 'codex.approval_expired');
		t.like(expired, {msg: 'An approval was declined, since the client did not respond within 0.05 s.'});
		t.true(client.news('warning').some(({message}) => /did not respond within/.test(String(message))));
	});

	test(`${kind}: does not forward an approval of an abandoned turn to the user [S-D3]`, async t => {
		const client = await startFake(t, kind, withElicitation, {cancelGraceMs: 30});
		const {threadId} = await client.codex('say:ONE', {'approval-policy': 'on-request'});
		const prompt = 'stubborn\nlate:1000\napprove:touch x';
		const call = client.make('codex-reply', {threadId, prompt});
		client.cancel(call);
		t.is((await call.answer).status, 'interrupted');
		t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
		t.true(
			client.news('warning').some(({message}) => /the turn was abandoned: .*touch x/.test(String(message))),
		);
		t.false(client.heard.some(({method}) => method === 'elicitation/create'));
	});
}
