import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {objectOf} from '../../lib/protocol/json.js';
import {bridgeBin, handshake, runBridge} from '../helpers/bridge.js';
import {framed, unframed} from '../helpers/frames.js';
import {until} from '../operators/support.js';
import {codexKinds} from './codex-clients.js';
import {processesWith} from './processes.js';
import {sayAndHold, sayIt} from './scripted-model.js';
import {RealClient, servePlace} from './serve-client.js';

/* Section 9, both real Codex programs: Proxy Core's faults, Shutdown + Resume; FR-6, FR-7, FR-11, FR-13, FR-14. */

const aboutToClose = /^This session is about to be closed/m;

/** The Codex that a bridge of this place has started. */
async function codexOf(folder: string): Promise<number> {
	const pids = await processesWith(folder);
	const found = pids.find(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.endsWith('/codex'));
	return Number(found);
}

for (const kind of codexKinds) {
	test.serial(
		`${kind}: Checklist, Proxy Core: Kill child process: what runs, what waits and what comes next is answered with the signal; FR-1.3 FR-11.1 FR-11.2 FR-11.3 NFR-2`,
		async t => {
			const at = await servePlace(t, kind);
			const client = await RealClient.start(t, at);
			const idle = await client.codex({prompt: sayIt('IDLE'), identity: 'idler'});
			const running = client.codex({prompt: sayAndHold('BEGUN'), identity: 'a'});
			const {codex_id: codexId} = await client.busy('a');
			const queued = client.reply(codexId, sayIt('NEVER'));
			await client.status();
			process.kill(await codexOf(at.home.folder), 'SIGKILL');
			for (const {error, text} of await Promise.all([running, queued])) {
				t.like(error, {code: -32005, exit_code: null, signal: 'SIGKILL'}, text);
				t.regex(text, /SIGKILL/);
			}
			t.like((await client.reply(idle.codexId, sayIt('NEVER'))).error, {code: -32005, signal: 'SIGKILL'});
			t.like(await client.status(), {child_alive: false, signal: 'SIGKILL', active_thread_count: 0});
			t.true((await client.threads()).every(({status}) => status === 'stale'));
			t.true(Number.isNaN(await codexOf(at.home.folder)), 'it is not started again');
			// The connection is closed and opened again: another Codex, and the session goes on.
			await client.sdk.close();
			const again = await RealClient.start(t, at);
			const resumed = await again.codex({codex_id: idle.codexId, prompt: sayIt('ON')});
			t.like(resumed.structured, {content: 'ON', codex_id: idle.codexId}, resumed.text);
		},
	);

	for (const how of ['SIGTERM', 'SIGINT', 'EOF'] as const)
		test.serial(
			`${kind}: Checklist, Shutdown: ${how}: summaries of idle and busy sessions, the registry, all processes gone; FR-7.1 FR-7.3 ${how === 'EOF' ? 'FR-7.4 ' : ''}FR-1.3 FR-6.4`,
			async t => {
				const at = await servePlace(t, kind);
				const client = await RealClient.start(t, at);
				const idle = await client.codex({prompt: sayIt('1'), identity: 'idle'});
				const running = client.codex({prompt: sayAndHold('BEGUN'), identity: 'busy'});
				const {codex_id: codexId, thread_id: thread} = await client.busy('busy');
				await Promise.all([
					how === 'EOF' ? client.hangUp() : client.kill(how),
					running.then(({error}) => t.like(error, {code: -32003, codex_id: codexId})),
				]);
				for (const [identity, id] of [
					['idle', idle.structured.threadId],
					['busy', thread],
				] as const)
					t.regex(readFileSync(at.summaryPath(identity, id), 'utf8'), /^You said: This session is about/, identity);
				t.deepEqual(
					at.registry().map(({status, state}) => [status, state]),
					[
						['closed', 'closed'],
						['closed', 'closed'],
					],
				);
				t.deepEqual(await processesWith(at.home.folder), []);
			},
		);

	test.serial(
		`${kind}: Checklist, Registry and Shutdown: SIGKILL: the registry without a summary; stale after a restart; resumed without one, with identity and cwd of before; FR-2.7 FR-3.2 FR-5.5 FR-6.3 FR-16.3`,
		async t => {
			const at = await servePlace(t, kind);
			mkdirSync(join(at.repo, 'sub'));
			const before = await RealClient.start(t, at);
			const made = await before.codex({prompt: sayIt('REMEMBER-THIS'), identity: 'a', cwd: 'sub', tag: 'label'});
			const {threadId} = made.structured;
			await before.kill('SIGKILL');
			t.like(at.registry()[0], {codex_id: made.codexId, thread_id: threadId, identity: 'a', status: 'active'});
			t.false(existsSync(at.summaryPath('a', threadId)));
			const client = await RealClient.start(t, at);
			t.like(await client.thread(made.codexId), {status: 'stale', resumable: true});
			t.like(await client.status(), {active_thread_count: 0});
			const resumed = await client.codex({codex_id: made.codexId, prompt: sayIt('AGAIN')});
			t.like(resumed.structured, {content: 'AGAIN', codex_id: made.codexId, identity: 'a'}, resumed.text);
			const isLoaded = kind === 'app-server';
			t.is(objectOf(resumed.structured.resumed).context, isLoaded ? 'thread' : 'none');
			const {users, developer} = at.model.heard('AGAIN');
			t.is(users.join().includes('REMEMBER-THIS'), isLoaded);
			t.regex(developer, /^Identity: a$/m);
			t.true(users.join().includes(`<cwd>${join(at.repo, 'sub')}</cwd>`));
			t.regex(client.stderr, /resume\.no_summary/);
			t.like(await client.thread(made.codexId), {status: 'active', state: 'idle', tag: 'label'});
			// Nobody has to resume it: its identity is free in the next run.
			await client.kill('SIGKILL');
			const other = await RealClient.start(t, at);
			t.like((await other.codex({prompt: sayIt('ANEW'), identity: 'a'})).structured, {content: 'ANEW'});
		},
	);

	test.serial(
		`${kind}: Checklist, Shutdown + Resume: --resume, --resume with a codex_id and a thread id, and codex with a codex_id: the summary is put in front; FR-6.1 FR-6.2 FR-6.4 FR-13.3 FR-16.3`,
		async t => {
			const at = await servePlace(t, kind);
			const before = await RealClient.start(t, at, {args: ['--identity', 'a']});
			const made = await before.codex({prompt: sayIt('ONE')});
			const other = await before.codex({prompt: sayIt('OTHER'), identity: 'b'});
			await before.kill('SIGTERM');
			const summary = readFileSync(at.summaryPath('a', made.structured.threadId), 'utf8');
			for (const id of [[], [made.codexId], ['THREAD']]) {
				const threadId = String(at.registry().find(({codex_id: known}) => known === made.codexId)?.thread_id);
				const ref = id.map(word => (word === 'THREAD' ? threadId : word));
				const client = await RealClient.start(t, at, {args: ['--identity', 'a', '--resume', ...ref]});
				const word = `GO-ON-${id[0] ?? 'LAST'}`;
				const resumed = await client.codex({prompt: sayIt(word)});
				t.like(resumed.structured, {content: word, codex_id: made.codexId}, resumed.text);
				const {developer, users} = at.model.heard(word);
				const place = kind === 'mcp-server' ? developer : (users.at(-1) ?? '');
				t.regex(place, /--- Summary of your previous session \(identity a, repository widgets, branch main\) begins/);
				if (id.length === 0) t.true(place.includes(summary.trim()), place);
				await client.kill('SIGTERM');
			}
			const client = await RealClient.start(t, at);
			const resumed = await client.codex({codex_id: other.codexId, prompt: sayIt('B-GOES-ON')});
			t.like(resumed.structured, {content: 'B-GOES-ON', identity: 'b'}, resumed.text);
			t.regex(at.model.heard('B-GOES-ON').users.at(-1) ?? '', /^--- Summary of your previous session \(identity b/);
		},
	);

	test.serial(
		`${kind}: FR-13.4 FR-13.5 FR-13.6 config, threads and summary show what real sessions have left; --prune removes those whose folder is gone`,
		async t => {
			const at = await servePlace(t, kind);
			mkdirSync(join(at.repo, 'sub'));
			const client = await RealClient.start(t, at, {args: ['--identity', 'a']});
			const made = await client.codex({prompt: sayIt('1')});
			await client.codex({prompt: sayIt('2'), identity: 'b', cwd: 'sub'});
			const bridge = async (...args: string[]): Promise<string> => {
				const {code, stdout, stderr} = await runBridge(args, '', {cwd: at.repo, env: at.env});
				t.is(code, 0, stderr);
				return stdout.join('\n');
			};
			const identities = async (...args: string[]): Promise<unknown[]> =>
				(JSON.parse(await bridge('threads', '--json', ...args)) as Array<{identity: string}>)
					.map(({identity}) => identity)
					.sort();
			t.regex(await bridge('threads', '--repo', 'widgets'), /^a +default +active +idle /m);
			await client.kill('SIGTERM');
			t.deepEqual(await identities(), ['a', 'b']);
			t.deepEqual(await identities('--identity', 'b'), ['b']);
			t.deepEqual(await identities('--repo', 'elsewhere'), []);
			t.is(await bridge('summary', made.codexId), readFileSync(at.summaryPath('a', made.structured.threadId), 'utf8').trimEnd());
			t.regex(await bridge('config'), /codex_bin.*codex\.js/);
			rmSync(join(at.repo, 'sub'), {recursive: true});
			await bridge('threads', '--prune');
			t.deepEqual(await identities(), ['a']);
		},
	);

	test.serial(
		`${kind}: FR-1.2 a client that frames by Content-Length, in pieces, is answered likewise; stdout has nothing else on it`,
		async t => {
			const at = await servePlace(t, kind);
			const bridge = spawn(process.execPath, [bridgeBin, 'serve', '--trust'], {
				...{cwd: at.repo, env: at.env, stdio: ['pipe', 'pipe', 'ignore']},
			});
			t.teardown(() => bridge.kill('SIGKILL'));
			const call = {name: 'codex', arguments: {prompt: sayIt('FRÄMED'), identity: 'a'}};
			const params = {jsonrpc: '2.0', id: 2, method: 'tools/call', params: call};
			const bytes = Buffer.concat([...handshake, JSON.stringify(params)].map(framed));
			for (let start = 0; start < bytes.length; start += 7) bridge.stdin.write(bytes.subarray(start, start + 7));
			const chunks: Buffer[] = [];
			for await (const chunk of bridge.stdout) {
				chunks.push(chunk);
				if (Buffer.concat(chunks).includes('"id":2')) bridge.stdin.end();
			}
			const answer = unframed(Buffer.concat(chunks)).find(({id}) => id === 2);
			t.like(objectOf(objectOf(answer?.result).structuredContent), {content: 'FRÄMED', identity: 'a'});
		},
	);

	// The following wait for time to pass, and do so side by side.
	test(`${kind}: Checklist, Proxy Core: Send request exceeding timeout: the error has what was said until then, and the session is idle; FR-14.1 FR-14.2 FR-14.3 FR-17.2`, async t => {
		const at = await servePlace(t, kind);
		at.configure('[plugins.codex-mcp]\nrequest_timeout_secs = 100\n');
		const client = await RealClient.start(t, at, {args: ['--timeout', '8']});
		const late = await client.codex({prompt: sayAndHold('HALFWAY'), identity: 'a'});
		t.like(late.error, {code: -32006, timeout_secs: 8, identity: 'a', partial: 'HALFWAY'}, late.text);
		t.regex(late.text, /HALFWAY[\s\S]*-32006/);
		const {codex_id: codexId} = late.error;
		t.like(await client.thread(codexId), {state: 'idle', status: 'active'});
		t.like((await client.reply(codexId, sayIt('ON'))).structured, {content: 'ON', codex_id: codexId});
	});

	test(`${kind}: FR-7.2 FR-17.4 who says no summary within 10 s, at a close or at the end, is interrupted, all side by side; 3.10 a good summary stays`, async t => {
		const at = await servePlace(t, kind);
		const client = await RealClient.start(t, at);
		const good = client.codex({prompt: sayAndHold('BEGUN'), identity: 'good'}).catch(() => undefined);
		const {codex_id: goodId} = await client.busy('good');
		await client.close(goodId);
		await good;
		const again = await client.codex({codex_id: goodId, prompt: sayIt('AGAIN')});
		const path = at.summaryPath('good', again.structured.threadId);
		const summary = readFileSync(path, 'utf8');
		const others = await Promise.all(['b', 'c'].map(identity => client.codex({prompt: sayIt('1'), identity})));
		t.true(others.every(({isError}) => !isError));
		void client.codex({prompt: sayAndHold('BEGUN'), identity: 'closed'}).catch(() => {});
		const {codex_id: closedId} = await client.busy('closed');
		at.model.holdOn(aboutToClose);
		const closing = client.close(closedId);
		await client.status();
		await client.kill('SIGTERM');
		t.like((await closing).structured, {closed: true, codex_id: closedId, status: 'interrupted'});
		t.is(readFileSync(path, 'utf8'), summary);
		const statuses = at.registry().map(({identity, status}) => [identity, status]);
		t.deepEqual(Object.fromEntries(statuses), {
			...{good: 'interrupted', b: 'interrupted', c: 'interrupted', closed: 'interrupted'},
		});
		t.deepEqual(await processesWith(at.home.folder), []);
	});

	test.serial(`${kind}: L2 FR-7.3 a second signal does not wait for summaries, and still saves`, async t => {
		const at = await servePlace(t, kind);
		const client = await RealClient.start(t, at);
		const {codexId} = await client.codex({prompt: sayIt('1'), identity: 'a'});
		at.model.holdOn(aboutToClose);
		process.kill(client.pid, 'SIGTERM');
		await until(() => at.registry().every(({status}) => status === 'interrupted'));
		await client.kill('SIGTERM');
		t.like(at.registry()[0], {codex_id: codexId, status: 'interrupted', state: 'closed'});
		t.deepEqual(await processesWith(at.home.folder), []);
	});
}
