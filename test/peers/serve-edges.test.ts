import {mkdirSync, realpathSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {codexKinds, startCodex} from './codex-clients.js';
import {replyWith, runOutside} from './scripted-model.js';
import {RealClient, servePlace, shareServe} from './serve-client.js';

/* Both real Codex programs: messages that they drop, and settings that change between turns. */

const serving = shareServe(codexKinds);

const nested = (levels: number): unknown => {
	let value: unknown = 1;
	for (let level = 0; level < levels; level++) value = {a: value};
	return value;
};

for (const kind of codexKinds) {
	test.serial(
		`${kind}: replaces lone surrogates in a prompt or in instructions, and the session continues [S-D1]`,
		async t => {
			const {client, at} = serving(kind);
			const {codexId} = await client.codex({
				prompt: replyWith('ONE'),
				identity: 'half',
				'developer-instructions': 'DEV \ud800.',
				config: {'x \ud800': 'y \udc00'},
			});
			t.true(at.model.requestWith('ONE').developer.includes('DEV \ufffd.'));
			const reply = await client.reply(codexId, `${replyWith('TWO')}\nhalf \ud83d.`);
			t.is(reply.structured.content, 'TWO');
			t.is(at.model.requestWith('TWO').users.at(-1), `${replyWith('TWO')}\nhalf \ufffd.`);
			t.is((await client.reply(codexId, replyWith('THREE'))).structured.content, 'THREE');
			t.like((await client.close(codexId)).structured, {status: 'closed'});
			t.false((await client.codex({codex_id: codexId, prompt: replyWith('FOUR')})).isError);
		},
	);

	test.serial(`${kind}: rejects a config that is too deeply nested for Codex [S-D1]`, async t => {
		const {client} = serving(kind);
		const {error} = await client.codex({prompt: replyWith('X'), config: {a: nested(140)}});
		t.like(error, {code: -32007});
		t.regex(String(error.message), /^config is nested deeper/);
		t.is((await client.codex({prompt: replyWith('X'), config: {a: nested(90)}})).structured.content, 'X');
	});

	test.serial(`${kind}: abandons a request that Codex drops, and the thread stays usable [S-D1]`, async t => {
		const {client} = await startCodex(t, kind);
		const {threadId} = await client.codex(replyWith('ONE'));
		const first = client.make('codex', {prompt: replyWith('X'), config: {a: nested(140)}});
		client.cancel(first);
		t.is((await first.answer).status, 'interrupted');
		// Only codex app-server accepts settings with a turn.
		const settings = kind === 'app-server' ? {'io.bridge/settings': {config: nested(140)}} : {};
		const made = client.make('codex-reply', {threadId, prompt: replyWith('TWO')}, settings);
		client.cancel(made);
		t.is((await made.answer).status, 'interrupted');
		t.is((await client.reply(threadId, replyWith('THREE'))).text, 'THREE');
	});

	test.serial(
		`${kind}: declines an approval with the reason if the client does not support elicitation [S-D20]`,
		async t => {
			const {client} = serving(kind);
			const policy = {'approval-policy': 'on-request', sandbox: 'read-only'};
			const {text} = await client.codex({prompt: runOutside('echo NO'), identity: 'asks', ...policy});
			t.regex(text, /An approval was declined without asking the user, since the client does not support/);
			if (kind === 'mcp-server')
				t.regex(text, /The tool returned: .*The user was not asked, since the client/);
		},
	);

	test.serial(
		`${kind}: applies a config that is a string of JSON, and rejects other types [S-D7]`,
		async t => {
			const {client, at} = serving(kind);
			await client.codex({prompt: replyWith('E1'), config: '{"model_reasoning_effort":"high"}'});
			t.is(at.model.requestWith('E1').effort, 'high');
			for (const config of ['high', '[1]', ['x'], 5])
				t.like((await client.codex({prompt: replyWith('X'), identity: 'b', config})).error, {code: -32007});
		},
	);
}

test.serial('app-server: settings of a call change a running session [S-D7]', async t => {
	const {client, at} = serving('app-server');
	const folder = join(realpathSync(at.repo), 'sub');
	mkdirSync(folder);
	const {codexId} = await client.codex({prompt: replyWith('ONE'), identity: 'a', model: 'one'});
	const changed = await client.codex({
		codex_id: codexId,
		prompt: replyWith('TWO'),
		model: 'two',
		cwd: 'sub',
		sandbox: 'workspace-write',
		'approval-policy': 'on-request',
		tag: 'new',
		auto_mail: false,
	});
	t.is(changed.structured.content, 'TWO');
	t.is(at.model.requestWith('TWO').model, 'two');
	t.regex(at.model.requestWith('TWO').developer, /`sandbox_mode` is `workspace-write`/);
	t.true(at.model.lastInput().includes(folder), at.model.lastInput());
	t.like(await client.thread(codexId), {tag: 'new', auto_mail: false, cwd: folder});
	await client.reply(codexId, replyWith('THREE'));
	t.is(at.model.requestWith('THREE').model, 'two');
});

test.serial('mcp-server: rejects settings that cannot change, and applies labels [S-D7]', async t => {
	const {client} = serving('mcp-server');
	const {codexId} = await client.codex({prompt: replyWith('ONE'), identity: 'a', model: 'one'});
	const {error} = await client.codex({codex_id: codexId, prompt: replyWith('X'), model: 'two', tag: 'no'});
	t.regex(String(error.message), /\(mcp-server\) sets model when a session starts/);
	t.like(await client.thread(codexId), {tag: null});
	await client.codex({codex_id: codexId, prompt: replyWith('TWO'), model: 'one', tag: 'new'});
	t.like(await client.thread(codexId), {tag: 'new'});
});

for (const kind of codexKinds)
	test.serial(
		`${kind}: --resume ID resumes that session with the first call without an identity [S-D8]`,
		async t => {
			t.timeout(120_000);
			const at = await servePlace(t, kind);
			const before = await RealClient.start(t, at);
			const {codexId} = await before.codex({prompt: replyWith('ONE'), identity: 'd'});
			await before.closeInput();
			const client = await RealClient.start(t, at, {args: ['--resume', codexId]});
			const instructions = {'developer-instructions': 'NEWDEV'};
			const args = {prompt: replyWith('TWO'), tag: 'again', model: 'other'};
			if (kind === 'app-server')
				t.regex((await client.codex({...args, ...instructions})).text, /developer-instructions is set when/);
			const resumed = await client.codex({...args, ...(kind === 'mcp-server' ? instructions : {})});
			t.is(resumed.codexId, codexId);
			t.like(await client.thread(codexId), {identity: 'd', tag: 'again', status: 'active'});
			t.is(at.model.requestWith('TWO').model, 'other');
			t.is(at.model.requestWith('TWO').developer.includes('NEWDEV'), kind === 'mcp-server');
		},
	);
