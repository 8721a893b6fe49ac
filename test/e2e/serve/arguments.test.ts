import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {type JsonObject, objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {argumentsIn, place, startServe} from './support.js';

for (const kind of fakeKinds) {
	test(`${kind}: changes tag and auto_mail of a running session and shows them [S-D7] [S-8]`, async t => {
		const at = await place(t, kind);
		const client = await startServe(t, at);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a', tag: 'one'});
		t.like((await client.threads())[0], {tag: 'one', auto_mail: true});
		await client.codex({codex_id: codexId, prompt: 'say:2', tag: 'two', auto_mail: false});
		t.like((await client.threads())[0], {codex_id: codexId, tag: 'two', auto_mail: false});
		const {identity_map: map} = await client.status();
		t.like(objectOf(map).a, {tag: 'two', auto_mail: false});
		t.like(at.registry()[0], {tag: 'two', auto_mail: false});
	});

	test(`${kind}: rejects arguments that cannot apply to an existing session [S-D7]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		const cases: ReadonlyArray<readonly [JsonObject, RegExp]> = [
			[{'developer-instructions': 'x'}, /^developer-instructions is set when a session starts/],
			[{'base-instructions': 'x'}, /^base-instructions is set/],
			[{config: {a: 1}}, /^config is set/],
			[{'compact-prompt': 'x'}, /^compact-prompt is set/],
			[{agent_file_as: 'prompt'}, /^agent_file_as is set/],
			[{role: 'nope'}, /Unknown role "nope"/],
			[
				{sandbox: 'bogus'},
				/^sandbox must be one of read-only, workspace-write, danger-full-access, not bogus/,
			],
			[{cwd: 'nowhere'}, /nowhere does not exist/],
			[{identity: 'other'}, /has the identity a, not other/],
			[{bogus: 1}, /^codex has no argument "bogus"/],
			[{prompt: ''}, /^prompt is empty/],
		];
		for (const [args, pattern] of cases)
			for (const isLive of [true, false]) {
				if (!isLive) await client.close(codexId);
				const call = {codex_id: codexId, prompt: 'say:NO', tag: 'no', ...args};
				const {error, text} = await client.codex(call);
				t.like(error, {code: -32007}, text);
				t.regex(String(error.message), pattern);
				t.like((await client.threads())[0], {tag: null, status: isLive ? 'active' : 'closed'});
				if (!isLive) await client.codex({codex_id: codexId, prompt: 'say:2'});
			}
		for (const args of [{model: 'x'}, {tag: 'x'}, {cwd: '.'}]) {
			const {error} = await client.call('codex-reply', {codex_id: codexId, prompt: 'say:1', ...args}).result;
			t.regex(String(error.message), /^codex-reply has no argument .* It has codex_id, threadId, prompt/);
		}
	});

	test(`${kind}: parses config from a JSON string and rejects other values [S-D7]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const config = '{"model_reasoning_effort":"high"}';
		const made = await client.codex({prompt: 'show:arguments', identity: 'a', config});
		t.like(argumentsIn(made).config, {model_reasoning_effort: 'high'});
		for (const wrong of ['high', '[]', '"{}"', ['a'], 5, true]) {
			const {error} = await client.codex({prompt: 'say:1', identity: 'b', config: wrong});
			t.regex(String(error.message), /^config must be an object/);
		}
	});

	test(`${kind}: codex-reply rejects a codex_id and a threadId of different sessions [S-D7]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const [one, two] = [
			await client.codex({prompt: 'say:1', identity: 'a'}),
			await client.codex({prompt: 'say:2', identity: 'b'}),
		];
		const reply = (threadId: unknown) =>
			client.call('codex-reply', {codex_id: one.codexId, threadId, prompt: 'say:3'}).result;
		const {error} = await reply(two.structured.threadId);
		t.like(error, {code: -32007, codex_id: one.codexId});
		t.regex(String(error.message), /^codex_id and threadId name different sessions.* Send one of the two/);
		t.like((await reply('nonsense')).error, {code: -32002});
		t.is((await reply(one.structured.threadId)).structured.content, '3');
	});

	test(`${kind}: a session that fails to start returns the error and no codex_id [S-D13]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const failed = await client.codex({prompt: 'say:1', 'approval-policy': 'nope'});
		t.true(failed.isError);
		t.like(failed.error, {code: -32000, kind: 'turn_failed'});
		t.regex(String(failed.error.message), /nope/);
		t.notRegex(`${failed.text} ${JSON.stringify(failed.structured)}`, /codex_id/);
		t.deepEqual(await client.threads(), []);
		const {codexId} = await client.codex({prompt: 'say:1', identity: 'a'});
		const error = await client.reply(codexId, 'error:It is down.');
		t.like(error.error, {code: -32000, kind: 'turn_failed', codex_id: codexId});
		t.regex(error.text, /codex_id/);
	});

	test(`${kind}: errors for unknown arguments and tools list the valid ones [S-D13]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const {error} = await client.codex({prompt: 'say:1', agentfile: 'x'});
		t.regex(String(error.message), /has no argument "agentfile"\. Did you mean agent_file\?/);
		for (const name of ['prompt', 'model', 'config', 'identity', 'role', 'tag', 'agent_file', 'auto_mail'])
			t.regex(String(error.message), new RegExp(`[ ,]${name}[,.]`));
		const unknown = await client.call('codex_thread').result;
		t.true(unknown.isError);
		t.regex(unknown.text, /Unknown tool "codex_thread"\. Did you mean codex_threads\?/);
		for (const name of ['codex', 'codex-reply', 'codex_status', 'codex_close', 'atm_send', 'atm_read'])
			t.true(unknown.text.includes(name), name);
		t.like(unknown.error, {code: -32007});
	});
}

test('app-server: changes model, cwd, sandbox and role of a running session permanently [S-D7]', async t => {
	const at = await place(t, 'app-server');
	at.configure('[plugins.codex-mcp.roles.fast]\nmodel = "quick"\nreasoning_effort = "low"\n');
	mkdirSync(join(at.repo, 'sub'));
	const client = await startServe(t, at);
	const {codexId} = await client.codex({prompt: 'say:1', identity: 'a', model: 'one'});
	const change = {model: 'two', cwd: 'sub', sandbox: 'read-only', 'approval-policy': 'never'};
	const made = await client.codex({codex_id: codexId, prompt: 'show:turn', ...change});
	const expected = {model: 'two', cwd: join(at.repo, 'sub'), sandboxPolicy: {type: 'readOnly'}};
	t.like(argumentsIn(made), {...expected, approvalPolicy: 'never'});
	t.like((await client.threads())[0], {cwd: join(at.repo, 'sub')});
	const fast = await client.codex({codex_id: codexId, prompt: 'show:turn', role: 'fast'});
	t.like(argumentsIn(fast), {model: 'quick', effort: 'low'});
	t.like((await client.threads())[0], {role: 'fast'});
	await client.close(codexId);
	const closed = await client.codex({codex_id: codexId, prompt: 'show:turn', model: 'three'});
	t.like(argumentsIn(closed), {model: 'three'});
});

test('app-server: discards the settings of a queued call that is cancelled [S-D7]', async t => {
	const at = await place(t, 'app-server');
	mkdirSync(join(at.repo, 'sub'));
	const client = await startServe(t, at);
	const {codexId} = await client.codex({prompt: 'say:1', identity: 'a', tag: 'one'});
	const slow = client.call('codex-reply', {codex_id: codexId, prompt: 'slow'});
	await client.busy('a');
	const change = {sandbox: 'read-only', cwd: 'sub', tag: 'two', auto_mail: false};
	const queued = client.call('codex', {codex_id: codexId, prompt: 'say:NO', ...change});
	const rejected = client.call('codex', {codex_id: codexId, prompt: 'x', tag: 'no', cwd: 'nowhere'});
	t.like((await rejected.result).error, {code: -32007}, 'calls of one session are prepared in order');
	const before = {cwd: at.repo, tag: 'one', auto_mail: true};
	t.like((await client.threads())[0], before, 'they apply when the turn starts');
	const next = client.call('codex', {codex_id: codexId, prompt: 'show:turn', tag: 'three'});
	client.cancel(queued.id);
	client.cancel(slow.id);
	const {sandboxPolicy, cwd} = argumentsIn(await next.result);
	t.deepEqual(
		[sandboxPolicy, cwd].filter(value => value !== undefined && value !== null),
		[],
	);
	t.like((await client.threads())[0], {...before, tag: 'three'});
	t.like(at.registry()[0], {cwd: at.repo, tag: 'three'});
});

test('app-server: discards the settings of a call that Codex rejects [S-D7]', async t => {
	const at = await place(t, 'app-server');
	mkdirSync(join(at.repo, 'sub'));
	const client = await startServe(t, at);
	const {codexId} = await client.codex({prompt: 'say:1', identity: 'a', tag: 'one'});
	const change = {tag: 'two', auto_mail: false, cwd: 'sub', 'approval-policy': 'nope'};
	for (const isLive of [true, false]) {
		if (!isLive) await client.close(codexId);
		const {error} = await client.codex({codex_id: codexId, prompt: 'say:NO', ...change});
		t.like(error, {code: -32000, codex_id: codexId});
		t.regex(String(error.message), /nope/);
		t.like((await client.threads())[0], {tag: 'one', auto_mail: true, cwd: at.repo, status: 'active'});
		t.like(at.registry()[0], {tag: 'one', auto_mail: null, cwd: at.repo});
	}
	t.is((await client.reply(codexId, 'say:2')).structured.content, '2');
});

test('mcp-server: rejects changed settings for an existing session [S-D7]', async t => {
	const client = await startServe(t, await place(t, 'mcp-server'));
	const {codexId} = await client.codex({prompt: 'say:1', identity: 'a', model: 'one'});
	const {error} = await client.codex({codex_id: codexId, prompt: 'x', model: 'two', sandbox: 'read-only'});
	t.regex(String(error.message), /sets model, sandbox when a session starts.*start a new session/);
	const same = await client.codex({codex_id: codexId, prompt: 'say:2', model: 'one'});
	t.is(same.structured.content, '2');
});
