import {existsSync, readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {until} from '../../helpers/pipeline.js';
import {argumentsIn, place, startServe} from './support.js';

for (const kind of fakeKinds) {
	for (const how of ['SIGTERM', 'SIGINT', 'EOF'] as const)
		test(`${kind}: requests summaries, saves the registry and exits on ${how} [FR-7.1] [FR-7.3] [FR-7.4] [L1]`, async t => {
			const at = await place(t, kind);
			const client = await startServe(t, at);
			const idle = await client.codex({prompt: 'say:1', identity: 'idle'});
			const busy = client.codex({prompt: 'slow', identity: 'busy'});
			const {codex_id: busyId, thread_id: busyThread} = await client.busy('busy');
			if (how === 'EOF') client.running.stdin.end();
			else client.running.child.kill(how);
			t.like((await busy).error, {code: -32003, codex_id: busyId});
			t.is((await client.running.exited).code, 0);
			for (const [identity, thread] of [
				['idle', idle.structured.threadId],
				['busy', busyThread],
			] as const)
				t.regex(readFileSync(at.summaryPath(identity, thread), 'utf8'), /summary/);
			const entries = at.registry();
			t.is(entries.length, 2);
			t.true(
				entries.every(({status, state}) => status === 'closed' && state === 'closed'),
				JSON.stringify(entries),
			);
		});

	test(`${kind}: a second signal skips summaries and saves sessions as interrupted [L2] [FR-7.2]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const {structured} = await client.codex({prompt: 'say:1', identity: 'a'});
		const slow = client.codex({prompt: 'slow\nstubborn', identity: 'b'});
		await client.busy('b');
		client.running.child.kill('SIGTERM');
		await until(() => at.registry().every(({status}) => status !== 'active'));
		client.running.child.kill('SIGTERM');
		const {code} = await client.running.exited;
		t.is(code, 0);
		t.like((await slow).error, {code: -32003});
		t.is(at.registry().find(({identity}) => identity === 'b')?.status, 'interrupted');
		t.is(at.registry().find(({identity}) => identity === 'a')?.thread_id, structured.threadId);
	});

	test(`${kind}: lists a session as stale after SIGKILL and resumes it without a summary [FR-3.2] [FR-6.3] [H15] [FR-2.7]`, async t => {
		const at = await place(t, kind);
		const before = await startServe(t, at);
		const made = await before.codex({prompt: 'say:ONE', identity: 'a', cwd: at.repo});
		before.running.child.kill('SIGKILL');
		await before.running.exited;
		t.like(at.registry()[0], {codex_id: made.codexId, thread_id: made.structured.threadId, identity: 'a'});
		t.false(existsSync(at.summaryPath('a', made.structured.threadId)));
		const client = await startServe(t, at);
		t.like((await client.threads())[0], {codex_id: made.codexId, status: 'stale', resumable: true});
		t.like(await client.status(), {active_thread_count: 0});
		const resumed = await client.codex({codex_id: made.codexId, prompt: 'show:prompts'});
		t.false(resumed.isError, resumed.text);
		t.is(resumed.codexId, made.codexId);
		const prompts = JSON.parse(String(resumed.structured.content)) as string[];
		const info = objectOf(resumed.structured.resumed);
		if (kind === 'app-server') {
			t.deepEqual(prompts, ['say:ONE', 'show:prompts']);
			t.is(info.context, 'thread');
			t.is(resumed.structured.threadId, made.structured.threadId);
		} else {
			t.deepEqual(prompts, ['show:prompts']);
			t.like(info, {context: 'none', previous_thread_id: made.structured.threadId});
			t.regex(resumed.text, /without context/);
			t.deepEqual((await client.threads())[0]?.previous_thread_ids, [made.structured.threadId]);
		}
		t.regex(client.running.stderr, /resume\.no_summary/);
		t.like((await client.threads())[0], {status: 'active', state: 'idle', cwd: at.repo, identity: 'a'});
		t.like((await client.reply(made.codexId, 'say:ON')).structured, {content: 'ON'});
	});

	test(`${kind}: prepends a saved summary to the first prompt of a resumed session [FR-16.3]`, async t => {
		const at = await place(t, kind);
		const before = await startServe(t, at);
		const made = await before.codex({prompt: 'say:ONE', identity: 'a'});
		t.is(await before.running.end(), 0);
		const client = await startServe(t, at);
		const {structured} = await client.codex({codex_id: made.codexId, prompt: 'show:prompts'});
		const last = (JSON.parse(String(structured.content)) as string[]).at(-1) ?? '';
		t.regex(
			last,
			/^--- Summary of your previous session \(identity a, repository widgets, branch main\) begins ---\necho: [\s\S]*ends ---\n\nshow:prompts$/,
		);
		t.is(objectOf(structured.resumed).context, kind === 'app-server' ? 'thread' : 'summary');
	});

	test(`${kind}: codex-reply resumes a stale session`, async t => {
		const at = await place(t, kind);
		const before = await startServe(t, at);
		const made = await before.codex({prompt: 'say:ONE', identity: 'a'});
		before.running.child.kill('SIGKILL');
		await before.running.exited;
		const client = await startServe(t, at);
		t.like((await client.reply(made.codexId, 'say:TWO')).structured, {
			content: 'TWO',
			codex_id: made.codexId,
		});
	});

	test(`${kind}: --resume resumes the last session, or one by its codex_id or thread id [FR-6.1] [FR-6.2] [FR-13.3]`, async t => {
		const at = await place(t, kind);
		const before = await startServe(t, at, '--identity', 'a');
		const made = await before.codex({prompt: 'say:ONE'});
		await before.codex({prompt: 'say:OTHER', identity: 'b'});
		t.is(await before.running.end(), 0);
		for (const id of [[], [made.codexId], [String(made.structured.threadId)]]) {
			const client = await startServe(t, at, '--identity', 'a', '--resume', ...id);
			const other = await client.codex({prompt: 'say:NEW', identity: 'c'});
			t.not(other.codexId, made.codexId);
			const first = await client.codex({prompt: 'show:arguments'});
			t.is(first.codexId, made.codexId, first.text);
			if (kind === 'mcp-server') {
				const instructions = String(argumentsIn(first)['developer-instructions']);
				t.regex(instructions, /^--- Summary of your previous session[\s\S]*<session-context>/);
			}
			client.running.child.kill('SIGTERM');
			await client.running.exited;
		}
	});

	test(`${kind}: --resume without a saved session starts normally with a warning`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at, '--resume');
		t.false((await client.codex({prompt: 'say:1'})).isError);
		t.regex(client.running.stderr, /resume\.nothing/);
	});
}

test('two bridge serve processes in one repository share the registry and its identities', async t => {
	const at = await place(t, 'app-server');
	const [one, two] = await Promise.all([startServe(t, at), startServe(t, at)]);
	const made = await one.codex({prompt: 'say:1', identity: 'a'});
	const rejected = await two.codex({prompt: 'say:2', identity: 'a'});
	t.like(rejected.error, {code: -32001, codex_id: made.codexId, pid: one.running.pid});
	const [b, c] = await Promise.all([
		one.codex({prompt: 'x', identity: 'b'}),
		two.codex({prompt: 'x', identity: 'c'}),
	]);
	t.false(b.isError || c.isError);
	t.is(at.registry().length, 3);
	t.is(await one.running.end(), 0);
	t.false((await two.codex({prompt: 'say:2', identity: 'a'})).isError);
});

test('moves a corrupt registry aside and reports it', async t => {
	const at = await place(t, 'app-server');
	const first = await startServe(t, at);
	await first.codex({prompt: 'say:1'});
	await first.running.end();
	const {writeFileSync} = await import('node:fs');
	writeFileSync(join(at.state(), 'registry.json'), '{"version":1,"sess');
	const client = await startServe(t, at);
	t.regex(String((await client.status()).registry_kept_aside), /corrupt/);
	t.false((await client.codex({prompt: 'say:1'})).isError);
	rmSync(at.base, {recursive: true, force: true});
});
