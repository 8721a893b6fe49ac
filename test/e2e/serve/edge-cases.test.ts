import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {type JsonObject, listOf, objectOf} from '../../../lib/util/json.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {place, startServe} from './support.js';

for (const kind of fakeKinds) {
	test(`${kind}: reports invalid arguments before the session limit [S-D20]`, async t => {
		const at = await place(t, kind);
		at.configure('[plugins.codex-mcp]\nmax_concurrent_threads = 1\n');
		const client = await startServe(t, at);
		await client.codex({prompt: 'say:1', identity: 'a'});
		const cases: ReadonlyArray<readonly [JsonObject, number, RegExp]> = [
			[{prompt: 'x', role: 'nope'}, -32007, /Unknown role "nope"/],
			[{prompt: 'x', cwd: 'nowhere'}, -32007, /nowhere does not exist/],
			[{prompt: 'x', sandbox: 'nope'}, -32007, /^sandbox must be/],
			[{agent_file: 'nothing.md'}, -32008, /nothing\.md/],
			[{prompt: 'x'}, -32004, /max_concurrent_threads is 1/],
		];
		for (const [args, code, pattern] of cases) {
			const {error} = await client.codex({identity: 'b', ...args});
			t.is(error.code, code);
			t.regex(String(error.message), pattern);
		}
	});

	test(`${kind}: rejects unknown arguments, wrong types and empty prompts in all tools [S-D20]`, async t => {
		const client = await startServe(t, await place(t, kind));
		for (const [tool, args, pattern] of [
			['codex_threads', {foo: 1}, /^codex_threads has no argument "foo"\. It has include_closed, identity\./],
			['codex_threads', {include_closed: 'yes'}, /^include_closed must be true or false/],
			['codex_threads', {identity: 5}, /^identity must be a string/],
			['codex_status', {foo: 1}, /^codex_status has no argument "foo"\. It has none\./],
			['codex_close', {codexid: 'x'}, /Did you mean codex_id\?/],
			['atm_send', {from: 'lead', to: 'x', message: 'x'}, /^atm_send has no argument "from"\. .*identity/],
			['codex', {prompt: ' '}, /^prompt is empty/],
			['codex-reply', {codex_id: 'x', prompt: ''}, /^prompt is empty/],
		] as const) {
			const {error} = await client.call(tool, args).result;
			t.is(error.code, -32007);
			t.regex(String(error.message), pattern);
		}
	});

	test(`${kind}: expands ~ in agent_file and cwd to the home folder [S-D20]`, async t => {
		const at = await place(t, kind);
		const agents = join(at.base, '.claude/agents');
		mkdirSync(agents, {recursive: true});
		writeFileSync(join(agents, 'a.md'), 'say:FROM FILE\n');
		const client = await startServe(t, {...at, env: {...at.env, HOME: at.base}});
		const made = await client.codex({agent_file: '~/.claude/agents/a.md', identity: 'a'});
		t.is(made.structured.content, 'FROM FILE');
		await client.codex({prompt: 'say:1', identity: 'b', cwd: '~/.claude'});
		t.like((await client.threads({identity: 'b'}))[0], {cwd: join(at.base, '.claude')});
	});

	test(`${kind}: sends no response to a cancelled request [S-D20]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const cancelled = client.call('codex', {prompt: 'slow', identity: 'a'});
		const {codex_id: codexId} = await client.busy('a');
		const queued = client.call('codex-reply', {codex_id: codexId, prompt: 'say:NO'});
		await client.status();
		client.cancel(queued.id);
		client.cancel(cancelled.id);
		t.is((await client.reply(String(codexId), 'say:2')).structured.content, '2');
		t.is(await client.running.end(), 0);
		const responseIds = client.running.lines.map(line => objectOf(JSON.parse(line)).id);
		for (const {id} of [cancelled, queued]) t.false(responseIds.includes(id));
	});

	test(`${kind}: lists automatically declined approvals in the result [S-D20]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const {text, structured} = await client.codex({prompt: 'approve:make', 'approval-policy': 'on-request'});
		t.regex(text, /An approval was declined without asking the user, since the client does not support/);
		t.regex(text, /- Allow Codex to run .*make/);
		t.like(listOf(structured.declined)[0], {reason: 'the client does not support elicitation'});
	});

	test(`${kind}: the result of a stopped turn names commands that may still run [S-D20]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const turn = client.codex({prompt: 'start:make all\ncommand:ls\nslow', identity: 'a'});
		await client.running.message(({params}) => JSON.stringify(params ?? {}).includes('make all'));
		const {codex_id: codexId} = await client.busy('a');
		await client.close(String(codexId));
		const {text, error} = await turn;
		t.regex(text, /Commands that it had started may still run: `make all`\./);
		t.deepEqual(error.commands, ['make all']);
	});

	test(`${kind}: events of commands contain the folder as a path, and the output [S-D20]`, async t => {
		const client = await startServe(t, await place(t, kind));
		await client.codex({prompt: 'command:ls\nsay:1', identity: 'a'});
		const events = client.running.lines.map(line => objectOf(objectOf(JSON.parse(line)).params).data);
		const of = (type: string) => events.map(objectOf).find(data => data.type === type);
		t.like(of('command_started'), {cwd: '/nowhere'});
		t.like(of('command_finished'), {output: 'done\n', exitCode: 0});
	});
}
