import process from 'node:process';
import test from 'ava';
import {listOf, objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {place, startServe} from './support.js';

for (const kind of fakeKinds) {
	test(`${kind}: starts Codex at startup and includes codex in the first tools/list [FR-1.3] [FR-16.4] [FR-13.1] [FR-15.1] [FR-15.2]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const {result} = await client.running.request('list', 'tools/list');
		const tools = listOf(objectOf(result).tools).map(objectOf);
		t.deepEqual(
			tools.map(({name}) => name),
			[
				'codex',
				'codex-reply',
				'codex_threads',
				'codex_status',
				'codex_close',
				'atm_send',
				'atm_read',
				'atm_broadcast',
				'atm_pending_count',
			],
		);
		t.like(await client.status(), {
			child_alive: true,
			backend: kind,
			team: 'default',
			active_thread_count: 0,
		});
		const properties = objectOf(objectOf(tools[0]?.inputSchema).properties);
		for (const name of [
			'prompt',
			'sandbox',
			'model',
			'config',
			'identity',
			'agent_file',
			'codex_id',
			'role',
			'cwd',
		])
			t.true(name in properties, name);
	});

	test(`${kind}: codex returns a codex_id, with which codex-reply continues the session [FR-5.4] [FR-16.2]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const first = await client.codex({prompt: 'say:ONE', identity: 'arch-ctm'});
		t.false(first.isError, first.text);
		t.regex(first.codexId, /^codex:[0-9a-f-]{36}$/);
		t.is(first.structured.content, 'ONE');
		t.true(first.text.includes(`codex_id: ${first.codexId}`), first.text);
		const second = await client.reply(first.codexId, 'show:prompts');
		t.deepEqual(JSON.parse(String(second.structured.content)), ['say:ONE', 'show:prompts']);
		t.is(second.codexId, first.codexId);
		t.is(second.structured.threadId, first.structured.threadId);
		const byThread = await client.call('codex-reply', {
			threadId: first.structured.threadId,
			prompt: 'say:THREE',
		}).result;
		t.is(byThread.structured.content, 'THREE');
	});

	test(`${kind}: rejects requests with the exit code after Codex exited [FR-11.1] [FR-11.2] [E1] [NFR-2]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const idle = await client.codex({prompt: 'say:IDLE', identity: 'idler'});
		const slow = client.codex({prompt: 'slow', identity: 'slowpoke'});
		const {codex_id: codexId} = await client.busy('slowpoke');
		const queued = client.reply(String(codexId), 'say:NEVER');
		const crash = client.codex({prompt: 'crash:42', identity: 'crasher'});
		for (const rejected of await Promise.all([slow, queued, crash])) {
			t.true(rejected.isError);
			t.like(rejected.error, {code: -32005, kind: 'child_dead', exit_code: 42});
			t.regex(rejected.text, /42/);
		}
		const next = await client.reply(idle.codexId, 'say:NEVER');
		t.like(next.error, {code: -32005, exit_code: 42});
		t.like(await client.status(), {child_alive: false, exit_code: 42, active_thread_count: 0});
		t.true((await client.threads()).every(({status}) => status === 'stale'));
		t.like(await client.close(idle.codexId), {isError: false, structured: {status: 'already_closed'}});
		t.truthy((await client.running.request('list', 'tools/list')).result);
		t.is(await client.running.end(), 1);
	});

	test(`${kind}: a call that times out returns the partial text and leaves the session idle [FR-14.2] [FR-14.1] [FR-14.3]`, async t => {
		const client = await startServe(t, await place(t, kind), '--timeout', '3');
		const late = await client.codex({prompt: 'say:PARTIAL TEXT\nstream:2\nslow', identity: 'late'});
		t.true(late.isError);
		t.like(late.error, {code: -32006, kind: 'timeout', timeout_secs: 3, identity: 'late'});
		t.regex(late.text, /PARTIAL/);
		const codexId = String(late.error.codex_id);
		t.like((await client.threads())[0], {codex_id: codexId, state: 'idle', status: 'active'});
		t.like((await client.reply(codexId, 'say:AGAIN')).structured, {content: 'AGAIN', codex_id: codexId});
	});

	test(`${kind}: cancels a running call, or a queued one without affecting the running one [FR-8.10]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const slow = client.call('codex', {prompt: 'say:HALF OF IT\nstream:2\nslow', identity: 'one'});
		const {codex_id: codexId} = await client.busy('one');
		const queued = client.call('codex-reply', {codex_id: codexId, prompt: 'say:NEVER'});
		const kept = client.call('codex-reply', {codex_id: codexId, prompt: 'show:prompts'});
		await client.status();
		client.cancel(queued.id);
		client.cancel(slow.id);
		const last = await kept.result;
		t.false(String(last.structured.content).includes('NEVER'), last.text);
		t.like((await client.threads())[0], {state: 'idle', status: 'active', turns: 2});
	});

	test(`${kind}: serves the tools that need no Codex when it cannot be started [E2]`, async t => {
		const at = await place(t, kind);
		const env = {...at.env, ATM_AGENT_MCP_CODEX_BIN: `${at.base}/nowhere`};
		const client = await startServe(t, {...at, env});
		t.like(await client.status(), {child_alive: false});
		const rejected = await client.codex({prompt: 'x'});
		t.like(rejected.error, {code: -32005, kind: 'child_dead'});
		t.true(rejected.text.includes('nowhere'));
		t.is(await client.running.end(), 1);
	});

	test(`${kind}: writes only messages to stdout, regardless of the output of Codex [K6]`, async t => {
		const client = await startServe(t, await place(t, kind), '--debug');
		await client.codex({prompt: 'say:ONE\ncommand:ls'});
		t.is(await client.running.end(), 0);
		t.notThrows(() => client.running.lines.map(line => JSON.parse(line)));
		t.true(client.running.lines.every(line => !line.includes('io.bridge/')));
	});
}

test('the process exits when the client closes stdin', async t => {
	const client = await startServe(t, await place(t, 'app-server'));
	await client.codex({prompt: 'say:ONE'});
	t.is(await client.running.end(), 0);
	t.throws(() => process.kill(client.running.pid, 0), {code: 'ESRCH'});
});
