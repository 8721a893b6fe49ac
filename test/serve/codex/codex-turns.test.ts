import test from 'ava';
import {CodexClient} from '../../helpers/codex-client.js';
import {fakeCodex, fakeKinds, startFake} from '../../helpers/fake-codex.js';

/* Behavior that both interfaces of Codex share. */

for (const kind of fakeKinds) {
	test(`${kind}: detects the interface with a probe and initializes it [FR-1.3]`, async t => {
		const {command} = await fakeCodex(t, kind);
		const client = await CodexClient.start(t, {command});
		t.is(client.backend.kind, kind);
		const {result} = await client.initialize({}, '2025-03-26');
		t.like(result, {protocolVersion: '2025-03-26', capabilities: {tools: {}, logging: {}}});
		const {result: list} = await client.request('tools/list');
		const {tools} = list as {tools: Array<{name: string; inputSchema: {properties: object}}>};
		t.deepEqual(
			tools.map(({name}) => name),
			['codex', 'codex-reply'],
		);
		t.true('developer-instructions' in (tools[0]?.inputSchema.properties ?? {}));
	});

	test(`${kind}: rejects a second initialize`, async t => {
		const client = await startFake(t, kind);
		t.like(await client.request('initialize', {}), {error: {code: -32600}});
	});

	test(`${kind}: responds to every method [FR-1.1]`, async t => {
		const client = await startFake(t, kind);
		t.like(await client.request('ping'), {result: {}});
		t.like(await client.request('logging/setLevel', {level: 'debug'}), {result: {}});
		t.like(await client.request('logging/setLevel', {level: 'loud'}), {error: {code: -32602}});
		for (const method of ['resources/list', 'prompts/get', 'completion/complete', 'tasks/list', 'x'])
			t.like(await client.request(method), {error: {code: -32601}}, method);
	});

	test(`${kind}: runs a turn, and a reply on its thread`, async t => {
		const client = await startFake(t, kind);
		const call = client.make('codex', {prompt: 'say:ONE', 'developer-instructions': 'DEV'});
		const first = await call.answer;
		t.like(first, {status: 'completed', text: 'ONE', isError: false});
		const {threadId} = first;
		t.like(await client.told('notifications/io.bridge/thread', call.id), {threadId});
		t.like(await client.told('notifications/io.bridge/turn_started', call.id), {threadId});
		t.like(await client.reply(threadId, 'show:prompts'), {
			status: 'completed',
			threadId: String(threadId),
			text: '["say:ONE","show:prompts"]',
		});
	});

	test(`${kind}: runs three threads concurrently, each with its own results`, async t => {
		const client = await startFake(t, kind);
		const names = ['A', 'B', 'C'];
		const turns = await Promise.all(names.map(name => client.codex(`slow:20\nsay:${name}`)));
		t.deepEqual(
			turns.map(({text}) => text),
			names,
		);
		const again = await Promise.all(turns.map(({threadId, text}) => client.reply(threadId, `say:${text}2`)));
		t.deepEqual(
			again.map(({text, threadId}) => [text, threadId]),
			turns.map(({text, threadId}) => [`${text}2`, threadId]),
		);
	});

	test(`${kind}: runs replies on one thread one after the other [FR-8.9]`, async t => {
		const client = await startFake(t, kind);
		const {threadId} = await client.codex('say:ONE');
		const replies = ['slow:30\nsay:TWO', 'say:THREE', 'say:FOUR'].map(prompt =>
			client.reply(threadId, prompt),
		);
		t.deepEqual(
			(await Promise.all(replies)).map(({text}) => text),
			['TWO', 'THREE', 'FOUR'],
		);
	});

	test(`${kind}: reports unknown_thread for a thread that does not exist`, async t => {
		const client = await startFake(t, kind);
		const threadId = '01a1e1f8-2672-7211-80ef-000000000000';
		t.like(await client.reply(threadId, 'say:X'), {status: 'unknown_thread', isError: true, threadId});
		t.like(await client.reply('not a thread', 'say:X'), {status: 'unknown_thread'});
	});

	test(`${kind}: returns an error result for an invalid call`, async t => {
		const client = await startFake(t, kind);
		for (const [name, args, pattern] of [
			['codex', {}, /prompt/],
			['codex', {prompt: 'x', profile: 'p'}, /profile/],
			[
				'codex',
				{prompt: 'x', 'approval-policy': 'on-failure'},
				/no longer supports the approval policy on-failure\. Use on-request/,
			],
			['codex-reply', {prompt: 'x'}, /threadId/],
			['codex-reply', {threadId: 'x'}, /prompt/],
		] as const) {
			const turn = await client.make(name, args).answer;
			t.true(turn.isError);
			t.is(turn.status, 'failed');
			t.regex(turn.text, pattern);
		}
		const {result} = await client.request('tools/call', {name: 'rm', arguments: {}});
		t.like(result, {isError: true});
	});

	test(`${kind}: reports events as log and progress notifications, with the thread`, async t => {
		const client = await startFake(t, kind);
		await client.request('logging/setLevel', {level: 'debug'});
		const call = client.make('codex', {prompt: 'command:ls -l\nsay:DONE'}, {progressToken: 7});
		const {threadId} = await call.answer;
		t.like(client.news('message')[0], {threadId, text: 'DONE'});
		t.like(client.news('command_started')[0], {threadId, command: 'ls -l'});
		t.like(client.news('command_finished')[0], {threadId, command: 'ls -l', exitCode: 0, output: 'done\n'});
		t.like(client.news('token_count')[0], {threadId});
		t.is(client.news('message').length, 1);
		t.like(await client.told('notifications/progress'), {progressToken: 7, progress: 1});
		await client.request('logging/setLevel', {level: 'error'});
		const before = client.news('message').length;
		await client.reply(threadId, 'say:QUIET');
		t.is(client.news('message').length, before);
	});

	test(`${kind}: ends the endpoint with the exit code after a crash [FR-11.1]`, async t => {
		const client = await startFake(t, kind);
		const call = client.make('codex', {prompt: 'crash:7'});
		const error = await t.throwsAsync(call.answer);
		t.like(error, {code: 'ERR_CHILD_EXITED', details: {exitCode: 7}});
		t.like(await client.backend.exited, {code: 7});
	});

	test(`${kind}: returns ids of any type unchanged`, async t => {
		const client = await startFake(t, kind);
		for (const id of ['1', 'a"b', 0, -5]) {
			client.say({id, method: 'tools/call', params: {name: 'codex', arguments: {prompt: `say:${id}`}}});
			const {result} = await client.message(body => body.id === id && body.method === undefined);
			t.like(result, {content: [{text: String(id)}]});
		}
	});
}
