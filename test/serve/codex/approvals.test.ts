import test from 'ava';
import {fakeKinds, startFake} from '../../helpers/fake-codex.js';

/* Questions of both kinds of Codex to whoever uses them. */

const canAsk = {elicitation: {}};

for (const kind of fakeKinds) {
	test(`${kind}: an approval is a question to the client: yes`, async t => {
		const client = await startFake(t, kind, canAsk);
		const made = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {params, answer} = await client.question();
		const {threadId} = await client.told('notifications/io.bridge/thread', made.id);
		t.like(params, {requestedSchema: {type: 'object'}, _meta: {'io.bridge/thread': threadId}});
		t.regex(String(params.message), /touch x/);
		answer({action: 'accept', content: {}});
		t.like(await made.answer, {status: 'completed', text: 'ran: touch x'});
		t.is(client.news('command_finished').length, 1);
	});

	for (const [title, result] of [
		['no', {action: 'decline'}],
		['something that is no answer', {action: 'perhaps'}],
	] as const)
		test(`${kind}: an approval is a question to the client: ${title}`, async t => {
			const client = await startFake(t, kind, canAsk);
			const made = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
			(await client.question()).answer(result);
			t.like(await made.answer, {status: 'completed', text: 'refused: touch x'});
		});

	test(`${kind}: an error in the place of an answer is a no, and nothing hangs`, async t => {
		const client = await startFake(t, kind, canAsk);
		const made = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {id} = await client.question();
		client.say({id, error: {code: -32603, message: 'Oh.'}});
		t.is((await made.answer).text, 'refused: touch x');
	});

	test(`${kind}: a question that is dismissed stops the turn`, async t => {
		const client = await startFake(t, kind, canAsk);
		const made = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		(await client.question()).answer({action: 'cancel'});
		const {status, threadId} = await made.answer;
		t.is(status, 'interrupted');
		t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
	});

	test(`${kind}: a client that cannot be asked: refused at once, with a warning`, async t => {
		const client = await startFake(t, kind);
		const turn = await client.codex('approve:touch x', {'approval-policy': 'on-request'});
		t.is(turn.text, 'refused: touch x');
		t.true(client.news('warning').some(({message}) => /does not support elicitation/.test(String(message))));
		t.false(client.heard.some(({method}) => method === 'elicitation/create'));
	});

	test(`${kind}: what is asked ends with the turn`, async t => {
		const client = await startFake(t, kind, canAsk);
		const made = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {id, answer} = await client.question();
		client.cancel(made);
		t.is((await made.answer).status, 'interrupted');
		t.like(await client.told('notifications/cancelled'), {requestId: id});
		// Too late, and for nobody.
		answer({action: 'accept'});
		t.is((await client.reply((await made.answer).threadId, 'say:TWO')).text, 'TWO');
	});

	test(`${kind}: an approval that the client does not respond to is declined at the limit [S-D3]`, async t => {
		const client = await startFake(t, kind, canAsk, {approvalMs: 50});
		const made = client.make('codex', {prompt: 'approve:touch x', 'approval-policy': 'on-request'});
		const {id, answer} = await client.question();
		// The clock of the turn runs again from here.
		t.like(await client.told('notifications/cancelled'), {requestId: id});
		t.like(await made.answer, {status: 'completed', text: 'refused: touch x'});
		answer({action: 'accept'});
		const expired = (await client.logged()).find(({event}) => event === 'codex.approval_expired');
		t.like(expired, {msg: 'An approval was declined, since the client did not respond within 0.05 s.'});
		t.true(client.news('warning').some(({message}) => /did not respond within/.test(String(message))));
	});

	test(`${kind}: an approval of a turn that was given up is not put to the user [S-D3]`, async t => {
		const client = await startFake(t, kind, canAsk, {cancelGraceMs: 30});
		const {threadId} = await client.codex('say:ONE', {'approval-policy': 'on-request'});
		const prompt = 'stubborn\nlate:1000\napprove:touch x';
		const made = client.make('codex-reply', {threadId, prompt});
		client.cancel(made);
		t.is((await made.answer).status, 'interrupted');
		t.is((await client.reply(threadId, 'say:TWO')).text, 'TWO');
		t.true(
			client.news('warning').some(({message}) => /the turn was given up: .*touch x/.test(String(message))),
		);
		t.false(client.heard.some(({method}) => method === 'elicitation/create'));
	});
}
