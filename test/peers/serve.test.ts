import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {objectOf} from '../../lib/protocol/json.js';
import {codexKinds} from './codex-clients.js';
import {inspect} from './inspector.js';
import {bridgeFile} from './peers.js';
import {refuseWith, sayAndHold, sayIt} from './scripted-model.js';
import {RealClient, servePlace} from './serve-client.js';

/* `bridge serve` between the real SDK's client and both real Codex programs, with a model that does as it is told. */

for (const kind of codexKinds) {
	test.serial(
		`${kind}: three sessions with three identities at once, replies, and who they are is in what the model sees`,
		async t => {
			const at = await servePlace(t, kind);
			const client = await RealClient.start(t, at);
			const names = ['arch-ctm', 'dev-1', 'qa'];
			const made = await Promise.all(
				names.map(identity => client.call('codex', {prompt: sayIt(`I am ${identity}`), identity})),
			);
			t.deepEqual(
				made.map(({structured}) => structured.content),
				names.map(name => `I am ${name}`),
			);
			t.is(new Set(made.map(({structured}) => structured.codex_id)).size, 3);
			const replies = await Promise.all(
				made.map(({structured: {codex_id, identity}}) =>
					client.call('codex-reply', {codex_id, prompt: sayIt(`still ${identity}`)}),
				),
			);
			t.deepEqual(
				replies.map(({structured}) => structured.content),
				names.map(name => `still ${name}`),
			);
			await client.call('codex-reply', {codex_id: made[0]?.structured.codex_id, prompt: sayIt('x')});
			t.true(at.model.given().includes('Identity: arch-ctm'), 'FR-2.1');
			const conflict = await client.call('codex', {prompt: 'x', identity: 'qa'});
			t.true(conflict.isError && conflict.text.includes(String(made[2]?.structured.codex_id)), conflict.text);
			t.like((await client.call('codex_status')).structured, {
				child_alive: true,
				backend: kind,
				active_thread_count: 3,
			});
		},
	);

	test.serial(
		`${kind}: a call is cancelled, one waits behind it, one times out, and the sessions go on right`,
		async t => {
			const client = await RealClient.start(t, await servePlace(t, kind), '--timeout', '8');
			const {structured} = await client.call('codex', {prompt: sayIt('ONE'), identity: 'a'});
			const {codex_id: codexId} = structured;
			const control = new AbortController();
			const cancelled = client.call(
				'codex-reply',
				{codex_id: codexId, prompt: sayAndHold('BEGUN')},
				{signal: control.signal},
			);
			await client.busy('a');
			const queued = client.call('codex-reply', {codex_id: codexId, prompt: sayIt('TWO')});
			control.abort('enough');
			await t.throwsAsync(cancelled);
			t.is((await queued).structured.content, 'TWO');
			for (const text of ['R1', 'R2', 'R3'])
				t.is(
					(await client.call('codex-reply', {codex_id: codexId, prompt: sayIt(text)})).structured.content,
					text,
				);
			const late = await client.call('codex-reply', {codex_id: codexId, prompt: sayAndHold('HALFWAY')});
			t.true(late.isError);
			t.regex(late.text, /HALFWAY[\s\S]*-32006/);
			t.is(
				(await client.call('codex-reply', {codex_id: codexId, prompt: sayIt('ON')})).structured.content,
				'ON',
			);
		},
	);

	test.serial(`${kind}: closed while busy with a summary, resumed, and closed again`, async t => {
		const client = await RealClient.start(t, await servePlace(t, kind));
		const running = client.call('codex', {prompt: sayAndHold('BEGUN'), identity: 'a'});
		const {codex_id: codexId} = await client.busy('a');
		const closed = await client.call('codex_close', {codex_id: codexId});
		t.like(closed.structured, {closed: true, status: 'closed'}, closed.text);
		t.regex((await running).text, /-32003/);
		const resumed = await client.call('codex', {codex_id: codexId, prompt: sayIt('BACK')});
		t.like(resumed.structured, {content: 'BACK', codex_id: codexId, identity: 'a'}, resumed.text);
		t.like((await client.call('codex_close', {identity: 'a'})).structured, {status: 'closed'});
		t.like((await client.call('codex_close', {identity: 'a'})).structured, {status: 'already_closed'});
	});

	test.serial(
		`${kind}: after kill -9 of bridge a session is stale, and goes on with what there is of it`,
		async t => {
			const at = await servePlace(t, kind);
			const before = await RealClient.start(t, at);
			const {structured} = await before.call('codex', {prompt: sayIt('REMEMBER-THIS'), identity: 'a'});
			process.kill(before.pid, 'SIGKILL');
			await waitFor(() => !isAlive(before.pid));
			const client = await RealClient.start(t, at);
			t.like((await client.threads())[0], {codex_id: structured.codex_id, status: 'stale'});
			const resumed = await client.call('codex', {codex_id: structured.codex_id, prompt: sayIt('AGAIN')});
			t.like(resumed.structured, {content: 'AGAIN', codex_id: structured.codex_id}, resumed.text);
			const {context} = objectOf(resumed.structured.resumed);
			t.is(context, kind === 'app-server' ? 'thread' : 'none');
			t.is(at.model.given().includes('REMEMBER-THIS'), kind === 'app-server');
		},
	);

	test.serial(`${kind}: an orderly end saves summaries, and --resume goes on with them`, async t => {
		const at = await servePlace(t, kind);
		const before = await RealClient.start(t, at, '--identity', 'a');
		const {structured} = await before.call('codex', {prompt: sayIt('FIRST')});
		process.kill(before.pid, 'SIGTERM');
		await waitFor(() => !isAlive(before.pid));
		const client = await RealClient.start(t, at, '--identity', 'a', '--resume');
		const resumed = await client.call('codex', {prompt: sayIt('SECOND')});
		t.like(resumed.structured, {content: 'SECOND', codex_id: structured.codex_id}, resumed.text);
		t.regex(at.model.given(), /Summary of your previous session/);
	});

	test.serial(`${kind}: a model error is told, and the session goes on after it`, async t => {
		const client = await RealClient.start(t, await servePlace(t, kind));
		const {structured} = await client.call('codex', {prompt: sayIt('ONE'), identity: 'a'});
		const {codex_id: codexId} = structured;
		t.true((await client.call('codex-reply', {codex_id: codexId, prompt: refuseWith(400)})).isError);
		const after = await client.call('codex-reply', {codex_id: codexId, prompt: sayIt('R1')});
		t.like(after.structured, {content: 'R1', codex_id: codexId}, after.text);
		t.is(
			(await client.call('codex-reply', {codex_id: codexId, prompt: sayIt('R2')})).structured.content,
			'R2',
		);
	});

	test.serial(`${kind}: the Inspector lists the tools and calls codex_status`, async t => {
		const {home, env} = await servePlace(t, kind);
		const settings = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
		const target = [...settings, process.execPath, bridgeFile, 'serve', '--trust'];
		const listed = await inspect(home.folder, target, ['tools/list']);
		t.is(listed.code, 0, String(listed.stdout));
		for (const name of ['codex', 'codex-reply', 'codex_threads', 'codex_status', 'codex_close'])
			t.true(String(listed.stdout).includes(`"${name}"`), name);
		const status = await inspect(home.folder, target, ['tools/call', '--tool-name', 'codex_status']);
		t.is(status.code, 0, String(status.stdout));
		t.regex(String(status.stdout), /child_alive.*true/);
	});
}

function isAlive(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}

async function waitFor(isSo: () => boolean): Promise<void> {
	for (const started = performance.now(); !isSo(); await sleep(10))
		if (performance.now() - started > 30_000) throw new Error('It never was so.');
}
