import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {place, startServe} from './support.js';

for (const kind of fakeKinds) {
	test(`${kind}: a session is busy during a turn and idle after it, for codex and codex-reply [FR-17.1] [FR-17.5]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const [one, two] = [join(at.base, 'one'), join(at.base, 'two')];
		const first = client.codex({prompt: `say:1\nuntil:${one}`, identity: 'a'});
		await client.busy('a');
		t.like(await client.status(), {busy_thread_count: 1, idle_thread_count: 0});
		writeFileSync(one, '');
		const {codexId} = await first;
		t.like((await client.threads())[0], {
			codex_id: codexId,
			state: 'idle',
			status: 'active',
			turns: 1,
			last_text: '1',
		});
		const second = client.reply(codexId, `say:2\nuntil:${two}`);
		await client.busy('a');
		writeFileSync(two, '');
		await second;
		t.like((await client.threads())[0], {state: 'idle', turns: 2, last_text: '2'});
	});

	test(`${kind}: runs concurrent replies one after the other in order and limits the queue [FR-8.9]`, async t => {
		const at = await place(t, kind);
		at.configure('[plugins.codex-mcp]\nmax_queued_turns = 3\n');
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:0', identity: 'a'});
		const running = client.call('codex-reply', {codex_id: codexId, prompt: 'slow'});
		await client.busy('a');
		const [two, three, four, five] = [2, 3, 4, 5].map(n => client.reply(codexId, `say:${n}`));
		t.like((await five)?.error, {code: -31003, kind: 'overloaded', limit: 3});
		client.cancel(running.id);
		const replies = await Promise.all([two, three, four]);
		t.deepEqual(
			replies.map(reply => reply?.structured.content),
			['2', '3', '4'],
		);
		const {structured} = await client.reply(codexId, 'show:prompts');
		t.is(structured.content, JSON.stringify(['say:0', 'slow', 'say:2', 'say:3', 'say:4', 'show:prompts']));
		t.like((await client.threads())[0], {state: 'idle'}, 'idle after queued replies');
	});

	test(`${kind}: codex_close closes an idle thread at once without a summary, and is idempotent [FR-17.3] [FR-17.9]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const {codexId, structured} = await client.codex({prompt: 'say:1', identity: 'a'});
		t.like((await client.close(codexId)).structured, {closed: true, codex_id: codexId, status: 'closed'});
		t.like((await client.threads())[0], {state: 'closed', status: 'closed', identity: 'a'});
		t.false(existsSync(at.summaryPath('a', structured.threadId)));
		t.like((await client.close(codexId)).structured, {closed: true, status: 'already_closed'});
		t.like((await client.call('codex_close', {identity: 'a'}).result).structured, {status: 'already_closed'});
		t.like((await client.close('codex:unknown')).error, {code: -32002, kind: 'session_not_found'});
		t.like((await client.call('codex_close', {}).result).error, {code: -32007});
		const rejected = await client.reply(codexId, 'x');
		t.like(rejected.error, {code: -32003, kind: 'session_closed', codex_id: codexId});
		t.regex(rejected.text, /codex with codex_id|with codex and codex_id/);
	});

	test(`${kind}: codex_close on a busy thread requests a summary, then closes [FR-17.4] [FR-17.10] [FR-17.11] [H7]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const running = client.codex({prompt: 'say:HALF OF IT\nstream:2\nslow', identity: 'a'});
		const {codex_id: codexId, thread_id: threadId} = await client.busy('a');
		const queued = client.reply(String(codexId), 'say:NEVER');
		const closings = [client.close(String(codexId)), client.close(String(codexId))];
		t.like((await queued).error, {code: -32003, kind: 'session_closed', codex_id: codexId});
		t.like((await running).error, {code: -32003, kind: 'session_closed'});
		const [one, two] = await Promise.all(closings);
		t.deepEqual(one?.structured, two?.structured, 'the second call waits for the first');
		t.like(one?.structured, {closed: true, status: 'closed'});
		t.regex(readFileSync(at.summaryPath('a', threadId), 'utf8'), /^echo: .*summary/s);
		t.false((await client.codex({prompt: 'say:NEW', identity: 'a'})).isError, 'the identity is free');
	});

	test(`${kind}: codex_close closes a busy thread that does not stop, as interrupted [FR-17.4]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const running = client.codex({prompt: 'slow\nstubborn', identity: 'a'});
		const {codex_id: codexId} = await client.busy('a');
		const closed = await client.close(String(codexId));
		t.like(closed.structured, {closed: true, codex_id: codexId});
		t.like((await running).error, {code: -32003});
		t.like((await client.threads())[0], {state: 'closed'});
	});

	test(`${kind}: resumes a closed session by codex_id with its context and identity [FR-16.3] [FR-17.7]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a', tag: 'label'});
		await client.close(codexId);
		const resumed = await client.codex({codex_id: codexId, prompt: 'show:prompts'});
		t.false(resumed.isError, resumed.text);
		t.is(resumed.codexId, codexId);
		t.like(resumed.structured, {identity: 'a', resumed: {context: 'thread'}});
		t.deepEqual(JSON.parse(String(resumed.structured.content)), ['say:1', 'show:prompts']);
		t.like((await client.threads())[0], {state: 'idle', status: 'active', tag: 'label'});
		t.like(
			(await client.codex({codex_id: codexId})).structured,
			{content: 'echo: Continue.'},
			'a call with the codex_id of an active session runs a turn',
		);
		t.like((await client.codex({codex_id: codexId, prompt: 'x', identity: 'b'})).error, {code: -32007});
		await client.close(codexId);
		const other = await client.codex({prompt: 'say:2', identity: 'a'});
		t.like(
			(await client.codex({codex_id: codexId, prompt: 'x'})).error,
			{code: -32001, codex_id: other.codexId},
			'the identity is in use by a newer session',
		);
	});

	test(`${kind}: the registry has all fields of 3 identities and agrees with codex_threads [FR-5.2] [FR-10.1]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const made = await Promise.all(
			['a', 'b', 'c'].map(identity =>
				client.codex({prompt: `say:${identity}`, identity, tag: `t-${identity}`}),
			),
		);
		const entries = at.registry();
		t.is(entries.length, 3);
		for (const {codexId, structured} of made) {
			const entry = entries.find(({codex_id: id}) => id === codexId);
			t.like(entry, {
				thread_id: structured.threadId,
				identity: structured.identity,
				team: 'default',
				status: 'active',
				state: 'idle',
				turns: 1,
				repo_root: at.repo,
				repo_name: 'widgets',
				branch: 'main',
				cwd: at.repo,
				tag: `t-${structured.identity}`,
			});
			t.regex(String(entry?.started_at), /^\d{4}-.*Z$/);
			t.regex(String(entry?.last_active), /^\d{4}-.*Z$/);
		}
		const listed = await client.threads();
		for (const {codexId} of made) t.true(listed.some(({codex_id: id}) => id === codexId));
		t.is(listed.length, 3);
		t.is((await client.threads({identity: 'b'})).length, 1);
		await client.close(made[0]?.codexId ?? '');
		t.is((await client.threads({include_closed: false})).length, 2);
	});

	test(`${kind}: audits every turn, close and rejection with matching correlation ids [FR-9.2] [K8]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: `say:1\n${'long '.repeat(100)}`, identity: 'a'});
		await client.reply(codexId, 'say:2');
		await client.codex({prompt: 'x', identity: 'a'});
		await client.close(codexId);
		const lines = at.audit();
		const [start, end] = lines.filter(line => JSON.stringify(line).includes('"codex"'));
		const ids = lines.map(line => line.correlation_id);
		t.true(
			ids.every(id => typeof id === 'string'),
			JSON.stringify(lines[0]),
		);
		t.is(start?.correlation_id, end?.correlation_id);
		t.is(lines.filter(line => Object.values(line).includes('refusal')).length, 1);
		t.is(lines.filter(line => Object.values(line).includes('codex_close')).length, 2);
		t.is(lines.filter(line => Object.values(line).includes('codex-reply')).length, 2);
		t.true(lines.every(line => line.codex_id === codexId || Object.values(line).includes('refusal')));
		t.true(lines.every(line => JSON.stringify(line).length < 1500));
	});
}
