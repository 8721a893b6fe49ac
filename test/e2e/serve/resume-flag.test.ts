import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {place, startServe} from './support.js';

for (const kind of fakeKinds) {
	for (const by of ['codex_id', 'identity', 'thread'] as const)
		test(`${kind}: the first call without an identity resumes the session of --resume with its ${by} [S-D8]`, async t => {
			const at = await place(t, kind);
			mkdirSync(join(at.repo, 'sub'));
			const before = await startServe(t, at);
			const {codexId, structured} = await before.codex({prompt: 'say:1', identity: 'd'});
			await before.running.end();
			const ids = {codex_id: codexId, identity: 'd', thread: String(structured.threadId)};
			const client = await startServe(t, at, '--resume', ids[by]);
			t.like((await client.codex({prompt: 'say:NO', cwd: 'nowhere'})).error, {code: -32007});
			const other = await client.codex({prompt: 'say:2', identity: 'other'});
			t.not(other.codexId, codexId);
			const resumed = await client.codex({prompt: 'say:3', tag: 'again', cwd: 'sub'});
			t.is(resumed.codexId, codexId);
			t.is(objectOf(resumed.structured.resumed).previous_thread_id, structured.threadId);
			const entry = {identity: 'd', tag: 'again', cwd: join(at.repo, 'sub'), status: 'active'};
			t.like((await client.threads({identity: 'd'}))[0], entry);
			t.like((await client.codex({prompt: 'say:4'})).structured, {identity: 'codex'});
		});

	test(`${kind}: does not resume a session of --resume again after a call resumed it by codex_id [S-D8]`, async t => {
		const at = await place(t, kind);
		const before = await startServe(t, at);
		const {codexId} = await before.codex({prompt: 'say:1', identity: 'd'});
		await before.running.end();
		const client = await startServe(t, at, '--resume', 'd');
		t.like((await client.codex({codex_id: codexId, prompt: 'x', cwd: 'nowhere'})).error, {code: -32007});
		t.is((await client.codex({codex_id: codexId, prompt: 'say:2', tag: 'new'})).codexId, codexId);
		const other = await client.codex({prompt: 'say:3'});
		t.like(other.structured, {identity: 'codex', content: '3'});
		await client.close(other.codexId);
		await client.close(codexId);
		const [entry] = await client.threads({identity: 'd'});
		t.like(entry, {codex_id: codexId, tag: 'new', status: 'closed'});
		const next = await client.codex({prompt: 'say:4'});
		t.like(next.structured, {identity: 'codex', content: '4'});
		t.false([codexId, other.codexId].includes(next.codexId));
		t.deepEqual((await client.threads({identity: 'd'}))[0], entry);
	});

	test(`${kind}: --resume continues the session in the state that another bridge serve left [S-D8]`, async t => {
		const at = await place(t, kind);
		const before = await startServe(t, at);
		const {codexId} = await before.codex({prompt: 'say:1', identity: 'd'});
		await before.running.end();
		const client = await startServe(t, at, '--resume', 'd');
		const other = await startServe(t, at);
		await other.codex({codex_id: codexId, prompt: 'say:2', tag: 'new'});
		t.like((await client.codex({prompt: 'say:NO'})).error, {code: -32001, codex_id: codexId});
		await other.running.end();
		const resumed = await client.codex({prompt: 'say:3'});
		t.is(resumed.codexId, codexId);
		t.like((await client.threads({identity: 'd'}))[0], {tag: 'new', turns: 3});
	});

	test(`${kind}: the first result after --resume with an unknown ID reports that a new session was started [S-D8]`, async t => {
		const client = await startServe(t, await place(t, kind), '--resume', 'nope');
		t.regex(client.running.stderr, /--resume: the session nope cannot be resumed: it does not exist/);
		t.true((await client.codex({prompt: 'say:1', cwd: 'nowhere'})).isError);
		const first = await client.codex({prompt: 'say:1'});
		t.regex(first.text, /--resume: the session nope cannot be resumed.* A new session was started/);
		t.regex(String(first.structured.notice), /nope/);
		t.notRegex((await client.codex({prompt: 'say:2', identity: 'b'})).text, /nope/);
	});
}
