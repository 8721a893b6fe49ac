import {existsSync, mkdirSync, readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {runBridge} from '../helpers/bridge.js';
import {codexKinds} from './codex-clients.js';
import {replyWith} from './scripted-model.js';
import {RealClient, servePlace} from './serve-client.js';

/* Section 9, both real Codex programs: Resume, and the registry after a restart; FR-3.2, FR-6, FR-13, FR-16.3. */

for (const kind of codexKinds) {
	test.serial(
		`${kind}: after SIGKILL a session is stale, and resumes with its identity and cwd but without a summary [FR-2.7] [FR-3.2] [FR-5.5] [FR-6.3] [FR-16.3]`,
		async t => {
			const at = await servePlace(t, kind);
			mkdirSync(join(at.repo, 'sub'));
			const before = await RealClient.start(t, at);
			const made = await before.codex({
				prompt: replyWith('REMEMBER-THIS'),
				identity: 'a',
				cwd: 'sub',
				tag: 'label',
			});
			const {threadId} = made.structured;
			await before.kill('SIGKILL');
			t.like(at.registry()[0], {
				codex_id: made.codexId,
				thread_id: threadId,
				identity: 'a',
				status: 'active',
			});
			t.false(existsSync(at.summaryPath('a', threadId)));
			const client = await RealClient.start(t, at);
			t.like(await client.thread(made.codexId), {status: 'stale', resumable: true});
			t.like(await client.status(), {active_thread_count: 0});
			const resumed = await client.codex({codex_id: made.codexId, prompt: replyWith('AGAIN')});
			t.like(resumed.structured, {content: 'AGAIN', codex_id: made.codexId, identity: 'a'}, resumed.text);
			const isLoaded = kind === 'app-server';
			t.is(objectOf(resumed.structured.resumed).context, isLoaded ? 'thread' : 'none');
			const {users, developer} = at.model.requestWith('AGAIN');
			t.is(users.join().includes('REMEMBER-THIS'), isLoaded);
			t.regex(developer, /^Identity: a$/m);
			t.true(users.join().includes(`<cwd>${join(at.repo, 'sub')}</cwd>`));
			t.regex(client.stderr, /resume\.no_summary/);
			t.like(await client.thread(made.codexId), {status: 'active', state: 'idle', tag: 'label'});
			// A session need not be resumed: its identity is free in the next run.
			await client.kill('SIGKILL');
			const other = await RealClient.start(t, at);
			t.like((await other.codex({prompt: replyWith('ANEW'), identity: 'a'})).structured, {content: 'ANEW'});
		},
	);

	test.serial(
		`${kind}: resumes by --resume, codex_id and thread id with the summary first [FR-6.1] [FR-6.2] [FR-6.4] [FR-13.3] [FR-16.3]`,
		async t => {
			const at = await servePlace(t, kind);
			const before = await RealClient.start(t, at, {args: ['--identity', 'a']});
			const made = await before.codex({prompt: replyWith('ONE')});
			const other = await before.codex({prompt: replyWith('OTHER'), identity: 'b'});
			await before.kill('SIGTERM');
			const summary = readFileSync(at.summaryPath('a', made.structured.threadId), 'utf8');
			for (const id of [[], [made.codexId], ['THREAD']]) {
				const threadId = String(at.registry().find(({codex_id: known}) => known === made.codexId)?.thread_id);
				const ref = id.map(word => (word === 'THREAD' ? threadId : word));
				const client = await RealClient.start(t, at, {args: ['--identity', 'a', '--resume', ...ref]});
				const word = `GO-ON-${id[0] ?? 'LAST'}`;
				const resumed = await client.codex({prompt: replyWith(word)});
				t.like(resumed.structured, {content: word, codex_id: made.codexId}, resumed.text);
				const {developer, users} = at.model.requestWith(word);
				const place = kind === 'mcp-server' ? developer : (users.at(-1) ?? '');
				t.regex(
					place,
					/--- Summary of your previous session \(identity a, repository widgets, branch main\) begins/,
				);
				if (id.length === 0) t.true(place.includes(summary.trim()), place);
				await client.kill('SIGTERM');
			}
			const client = await RealClient.start(t, at);
			const resumed = await client.codex({codex_id: other.codexId, prompt: replyWith('B-GOES-ON')});
			t.like(resumed.structured, {content: 'B-GOES-ON', identity: 'b'}, resumed.text);
			t.regex(
				at.model.requestWith('B-GOES-ON').users.at(-1) ?? '',
				/^--- Summary of your previous session \(identity b/,
			);
		},
	);

	test.serial(
		`${kind}: config, threads and summary show ended sessions, and --prune removes those of deleted folders [FR-13.4] [FR-13.5] [FR-13.6]`,
		async t => {
			const at = await servePlace(t, kind);
			mkdirSync(join(at.repo, 'sub'));
			const client = await RealClient.start(t, at, {args: ['--identity', 'a']});
			const made = await client.codex({prompt: replyWith('1')});
			await client.codex({prompt: replyWith('2'), identity: 'b', cwd: 'sub'});
			const bridge = async (...args: string[]): Promise<string> => {
				const {code, stdout, stderr} = await runBridge(args, '', {cwd: at.repo, env: at.env});
				t.is(code, 0, stderr);
				return stdout.join('\n');
			};
			const identities = async (...args: string[]): Promise<string[]> => {
				const listed = JSON.parse(await bridge('threads', '--json', ...args)) as Array<{identity: string}>;
				return listed.map(({identity}) => identity).sort((one, other) => one.localeCompare(other));
			};
			t.regex(await bridge('threads', '--repo', 'widgets'), /^a +default +active +idle /m);
			await client.kill('SIGTERM');
			t.deepEqual(await identities(), ['a', 'b']);
			t.deepEqual(await identities('--identity', 'b'), ['b']);
			t.deepEqual(await identities('--repo', 'elsewhere'), []);
			t.is(
				await bridge('summary', made.codexId),
				readFileSync(at.summaryPath('a', made.structured.threadId), 'utf8').trimEnd(),
			);
			t.regex(await bridge('config'), /codex_bin.*codex\.js/);
			rmSync(join(at.repo, 'sub'), {recursive: true});
			await bridge('threads', '--prune');
			t.deepEqual(await identities(), ['a']);
		},
	);
}
