import {existsSync, readFileSync} from 'node:fs';
import test from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {codexKinds} from './codex-clients.js';
import {replyAndHold, replyOnRelease, replyWith} from './scripted-model.js';
import {shareServe} from './serve-client.js';

/* Section 9, both real Codex programs: Registry, Thread Lifecycle; FR-5, FR-10, FR-17. */

const serving = shareServe(codexKinds);

for (const kind of codexKinds) {
	test.serial(
		`${kind}: codex_threads lists a session as busy during a turn and idle after it [FR-17.1] [FR-17.2] [FR-17.5] [FR-5.5]`,
		async t => {
			const {client, at} = serving(kind);
			const first = client.codex({prompt: replyOnRelease('FIRST'), identity: 'a'});
			const {codex_id: codexId} = await client.busy('a');
			t.like(await client.status(), {busy_thread_count: 1, idle_thread_count: 0});
			t.like(
				at.registry().find(({codex_id: id}) => id === codexId),
				{state: 'busy', status: 'active'},
			);
			at.model.release('FIRST');
			t.is((await first).codexId, String(codexId));
			t.like(await client.thread(codexId), {state: 'idle', status: 'active', turns: 1, last_text: 'FIRST'});
			const second = client.reply(codexId, replyOnRelease('SECOND'));
			await client.busy('a');
			at.model.release('SECOND');
			t.is((await second).structured.content, 'SECOND');
			t.like(await client.thread(codexId), {state: 'idle', turns: 2});
			t.like(await client.status(), {busy_thread_count: 0, idle_thread_count: 1});
		},
	);

	test.serial(
		`${kind}: saves and lists three concurrent sessions with all fields [FR-5.1] [FR-5.2] [FR-5.3] [FR-10.1] [FR-10.2]`,
		async t => {
			const {client, at} = serving(kind);
			const names = ['x-1', 'x-2', 'x-3'];
			const made = await Promise.all(
				names.map(identity => client.codex({prompt: replyWith(identity), identity, tag: `t-${identity}`})),
			);
			t.deepEqual(
				made.map(({structured}) => structured.content),
				names,
			);
			const {identity_map: map} = await client.status();
			for (const {codexId, structured} of made) {
				const {threadId, identity} = structured;
				const fields = {
					codex_id: codexId,
					thread_id: threadId,
					identity,
					team: 'default',
					tag: `t-${identity}`,
					repo_root: at.repo,
					repo_name: 'widgets',
					cwd: at.repo,
					branch: 'main',
					status: 'active',
					state: 'idle',
				};
				const saved = at.registry().find(({codex_id: id}) => id === codexId);
				t.like(saved, fields);
				t.true(
					[saved?.started_at, saved?.last_active].every(time => !Number.isNaN(Date.parse(String(time)))),
				);
				t.like(await client.thread(codexId), fields);
				t.like(objectOf(map)[String(identity)], {codex_id: codexId, thread_id: threadId});
			}
			const replies = await Promise.all(
				made.map(({codexId}) => client.reply(codexId, replyWith(`still ${codexId}`))),
			);
			for (const [index, {structured}] of replies.entries())
				t.like(structured, {content: `still ${made[index]?.codexId}`, identity: names[index]});
		},
	);

	test.serial(
		`${kind}: codex_close closes an idle session at once, and does nothing the second time [FR-17.3] [FR-17.9] [FR-3.4]`,
		async t => {
			const {client, at} = serving(kind);
			const {codexId, structured} = await client.codex({prompt: replyWith('1'), identity: 'a'});
			const before = at.model.requestCount();
			t.like((await client.close(codexId)).structured, {closed: true, codex_id: codexId, status: 'closed'});
			t.is(at.model.requestCount(), before, 'no turn for a summary');
			t.false(existsSync(at.summaryPath('a', structured.threadId)));
			t.like(await client.thread(codexId), {state: 'closed', status: 'closed'});
			t.like((await client.close(codexId)).structured, {closed: true, status: 'already_closed'});
			t.like((await client.call('codex_close', {identity: 'a'})).structured, {status: 'already_closed'});
			t.like((await client.close('codex:nobody')).error, {code: -32002});
			t.like((await client.reply(codexId, 'x')).error, {code: -32003, codex_id: codexId});
		},
	);

	test.serial(
		`${kind}: codex_close on a busy session rejects queued calls, saves a summary and frees the identity for a resume [FR-17.4] [FR-17.7] [FR-17.10] [FR-17.11] [FR-16.3] [FR-6.4]`,
		async t => {
			const {client, at} = serving(kind);
			const running = client.codex({prompt: replyAndHold('HALFWAY'), identity: 'a', tag: 'label'});
			const {codex_id: codexId, thread_id: threadId} = await client.busy('a');
			const queued = client.reply(codexId, replyWith('NEVER'));
			const closings = await Promise.all([client.close(codexId), client.close(codexId)]);
			for (const {structured, text} of closings) t.like(structured, {closed: true, status: 'closed'}, text);
			t.like((await queued).error, {code: -32003, codex_id: codexId});
			t.like((await running).error, {code: -32003, codex_id: codexId});
			t.regex(
				readFileSync(at.summaryPath('a', threadId), 'utf8'),
				/^Echo of the prompt: This session is about to be closed/,
			);
			t.throws(() => at.model.requestWith('NEVER'));
			const resumed = await client.codex({codex_id: codexId, prompt: replyWith('BACK')});
			t.like(resumed.structured, {content: 'BACK', codex_id: codexId, identity: 'a'}, resumed.text);
			t.regex(
				at.model.requestWith('BACK').users.at(-1) ?? '',
				/^--- Summary of your previous session[\s\S]*\n\nsay BACK$/,
			);
			t.like(await client.thread(codexId), {state: 'idle', status: 'active', tag: 'label'});
			t.like((await client.reply(codexId, replyWith('ON'))).structured, {content: 'ON', identity: 'a'});
		},
	);

	test.serial(
		`${kind}: after a cancellation the queued turns run in order, each with its own result [FR-17.11] [FR-17.2]`,
		async t => {
			const {client, at} = serving(kind);
			const {codexId} = await client.codex({prompt: replyWith('ONE'), identity: 'a'});
			const control = new AbortController();
			const cancelled = client.reply(codexId, replyAndHold('BEGUN'), {signal: control.signal});
			await client.busy('a');
			const gone = new AbortController();
			const never = client.reply(codexId, replyWith('NEVER'), {signal: gone.signal});
			const queued = ['TWO', 'THREE'].map(text => client.reply(codexId, replyWith(text)));
			await client.status();
			gone.abort('not needed');
			control.abort('enough');
			await t.throwsAsync(cancelled);
			await t.throwsAsync(never);
			t.throws(() => at.model.requestWith('NEVER'));
			for (const [index, text] of ['TWO', 'THREE'].entries())
				t.is((await queued[index])?.structured.content, text);
			for (const text of ['R1', 'R2', 'R3'])
				t.is((await client.reply(codexId, replyWith(text))).structured.content, text);
			t.like(await client.thread(codexId), {state: 'idle'});
		},
	);
}
