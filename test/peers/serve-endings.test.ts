import {spawn} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import process from 'node:process';
import test from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {until} from '../e2e/mail-turns/place.js';
import {bridgeBin, handshake} from '../helpers/bridge.js';
import {framed, unframed} from '../helpers/frames.js';
import {codexKinds} from './codex-clients.js';
import {processesWith} from './processes.js';
import {replyAndHold, replyWith} from './scripted-model.js';
import {RealClient, servePlace} from './serve-client.js';

/* Section 9, both real Codex programs: Proxy Core's faults, Shutdown; FR-1.2, FR-7, FR-11, FR-14. */

const aboutToClose = /^This session is about to be closed/m;

/** The pid of the Codex that bridge started, or NaN. */
async function codexOf(folder: string): Promise<number> {
	const pids = await processesWith(folder);
	const found = pids.find(pid =>
		readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.endsWith('/codex'),
	);
	return Number(found);
}

for (const kind of codexKinds) {
	test.serial(
		`${kind}: fails running, queued and later calls with the signal that killed Codex [FR-1.3] [FR-11.1] [FR-11.2] [FR-11.3] [NFR-2]`,
		async t => {
			const at = await servePlace(t, kind);
			const client = await RealClient.start(t, at);
			const idle = await client.codex({prompt: replyWith('IDLE'), identity: 'idler'});
			const running = client.codex({prompt: replyAndHold('BEGUN'), identity: 'a'});
			const {codex_id: codexId} = await client.busy('a');
			const queued = client.reply(codexId, replyWith('NEVER'));
			await client.status();
			process.kill(await codexOf(at.home.folder), 'SIGKILL');
			for (const {error, text} of await Promise.all([running, queued])) {
				t.like(error, {code: -32005, exit_code: null, signal: 'SIGKILL'}, text);
				t.regex(text, /SIGKILL/);
			}
			t.like((await client.reply(idle.codexId, replyWith('NEVER'))).error, {code: -32005, signal: 'SIGKILL'});
			t.like(await client.status(), {child_alive: false, signal: 'SIGKILL', active_thread_count: 0});
			t.true((await client.threads()).every(({status}) => status === 'stale'));
			t.true(Number.isNaN(await codexOf(at.home.folder)), 'Codex is not restarted');
			// A new connection starts another Codex, and resumes the session.
			await client.sdk.close();
			const again = await RealClient.start(t, at);
			const resumed = await again.codex({codex_id: idle.codexId, prompt: replyWith('ON')});
			t.like(resumed.structured, {content: 'ON', codex_id: idle.codexId}, resumed.text);
		},
	);

	for (const how of ['SIGTERM', 'SIGINT', 'EOF'] as const)
		test.serial(
			`${kind}: saves summaries and the registry on ${how}, and leaves no process [FR-7.1] [FR-7.3]${how === 'EOF' ? ' [FR-7.4]' : ''} [FR-1.3] [FR-6.4]`,
			async t => {
				const at = await servePlace(t, kind);
				const client = await RealClient.start(t, at);
				const idle = await client.codex({prompt: replyWith('1'), identity: 'idle'});
				const running = client.codex({prompt: replyAndHold('BEGUN'), identity: 'busy'});
				const {codex_id: codexId, thread_id: thread} = await client.busy('busy');
				await Promise.all([
					how === 'EOF' ? client.closeInput() : client.kill(how),
					running.then(({error}) => t.like(error, {code: -32003, codex_id: codexId})),
				]);
				for (const [identity, id] of [
					['idle', idle.structured.threadId],
					['busy', thread],
				] as const)
					t.regex(
						readFileSync(at.summaryPath(identity, id), 'utf8'),
						/^Echo of the prompt: This session is about/,
						identity,
					);
				const folder = at.state();
				t.deepEqual(
					readdirSync(folder).filter(name => /^[^.].*\.lock$/.test(name)),
					[],
					'no identity is locked',
				);
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
		`${kind}: replies in Content-Length frames to a client that sends them, and writes nothing else to stdout [FR-1.2]`,
		async t => {
			const at = await servePlace(t, kind);
			const bridge = spawn(process.execPath, [bridgeBin, 'serve', '--trust'], {
				cwd: at.repo,
				env: at.env,
				stdio: ['pipe', 'pipe', 'ignore'],
			});
			t.teardown(() => bridge.kill('SIGKILL'));
			const call = {name: 'codex', arguments: {prompt: replyWith('FRÄMED'), identity: 'a'}};
			const params = {jsonrpc: '2.0', id: 2, method: 'tools/call', params: call};
			const bytes = Buffer.concat([...handshake, JSON.stringify(params)].map(framed));
			for (let start = 0; start < bytes.length; start += 7)
				bridge.stdin.write(bytes.subarray(start, start + 7));
			const chunks: Buffer[] = [];
			for await (const chunk of bridge.stdout) {
				chunks.push(chunk);
				if (Buffer.concat(chunks).includes('"id":2')) bridge.stdin.end();
			}
			const response = unframed(Buffer.concat(chunks)).find(({id}) => id === 2);
			t.like(objectOf(objectOf(response?.result).structuredContent), {content: 'FRÄMED', identity: 'a'});
		},
	);

	// These tests run concurrently, since they wait for timeouts.
	test(`${kind}: a timeout returns the partial text, and the session becomes idle [FR-14.1] [FR-14.2] [FR-14.3] [FR-17.2]`, async t => {
		const at = await servePlace(t, kind);
		at.configure('[plugins.codex-mcp]\nrequest_timeout_secs = 100\n');
		const client = await RealClient.start(t, at, {args: ['--timeout', '8']});
		const late = await client.codex({prompt: replyAndHold('HALFWAY'), identity: 'a'});
		t.like(late.error, {code: -32006, timeout_secs: 8, identity: 'a', partial: 'HALFWAY'}, late.text);
		t.regex(late.text, /HALFWAY[\s\S]*-32006/);
		const {codex_id: codexId} = late.error;
		t.like(await client.thread(codexId), {state: 'idle', status: 'active'});
		t.like((await client.reply(codexId, replyWith('ON'))).structured, {content: 'ON', codex_id: codexId});
	});

	test(`${kind}: interrupts sessions that return no summary within 10 s, and keeps an earlier summary (3.10) [FR-7.2] [FR-17.4]`, async t => {
		const at = await servePlace(t, kind);
		const client = await RealClient.start(t, at);
		const good = client.codex({prompt: replyAndHold('BEGUN'), identity: 'good'}).catch(() => undefined);
		const {codex_id: goodId} = await client.busy('good');
		await client.close(goodId);
		await good;
		const again = await client.codex({codex_id: goodId, prompt: replyWith('AGAIN')});
		const path = at.summaryPath('good', again.structured.threadId);
		const summary = readFileSync(path, 'utf8');
		const others = await Promise.all(
			['b', 'c'].map(identity => client.codex({prompt: replyWith('1'), identity})),
		);
		t.true(others.every(({isError}) => !isError));
		void client.codex({prompt: replyAndHold('BEGUN'), identity: 'closed'}).catch(() => {});
		const {codex_id: closedId} = await client.busy('closed');
		at.model.holdOn(aboutToClose);
		const closing = client.close(closedId);
		await client.status();
		await client.kill('SIGTERM');
		t.like((await closing).structured, {closed: true, codex_id: closedId, status: 'interrupted'});
		t.true(at.model.requestCount(aboutToClose) >= 4, 'the summaries run concurrently');
		t.is(readFileSync(path, 'utf8'), summary);
		const statuses = at.registry().map(({identity, status}) => [identity, status]);
		t.deepEqual(Object.fromEntries(statuses), {
			good: 'interrupted',
			b: 'interrupted',
			c: 'interrupted',
			closed: 'interrupted',
		});
		t.deepEqual(await processesWith(at.home.folder), []);
	});

	test.serial(
		`${kind}: a second signal skips the summaries and still saves the registry [L2] [FR-7.3]`,
		async t => {
			const at = await servePlace(t, kind);
			const client = await RealClient.start(t, at);
			const {codexId} = await client.codex({prompt: replyWith('1'), identity: 'a'});
			at.model.holdOn(aboutToClose);
			process.kill(client.pid, 'SIGTERM');
			await until(() => at.registry().every(({status}) => status === 'interrupted'));
			await client.kill('SIGTERM');
			t.like(at.registry()[0], {codex_id: codexId, status: 'interrupted', state: 'closed'});
			// Killed processes may take a moment to disappear.
			await until(async () => (await processesWith(at.home.folder)).length === 0);
		},
	);
}
