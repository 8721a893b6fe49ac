import test from 'ava';
import {listOf, objectOf} from '../../../lib/util/json.js';
import {opening, startBridge} from '../../helpers/bridge.js';
import {fakeKinds} from '../../helpers/fake-codex.js';
import {place, ServeClient, startServe} from './support.js';

for (const kind of fakeKinds) {
	test(`${kind}: forwards an approval with the session identity to the client, and its response to Codex`, async t => {
		const at = await place(t, kind);
		const running = startBridge(['serve', '--trust'], {env: at.env, cwd: at.repo});
		t.teardown(() => running.child.kill('SIGKILL'));
		await running.request('init', 'initialize', {...opening, capabilities: {elicitation: {}}});
		running.send({method: 'notifications/initialized'});
		const client = new ServeClient(running);
		const turn = client.codex({
			prompt: 'approve:make all',
			identity: 'builder',
			'approval-policy': 'on-request',
		});
		const request = await running.message(({method}) => method === 'elicitation/create');
		const {message, _meta} = objectOf(request.params);
		t.regex(String(message), /^builder: .*make all/);
		t.like(_meta, {identity: 'builder'});
		running.send({id: request.id, result: {action: 'accept', content: {}}});
		t.is((await turn).structured.content, 'ran: make all');
	});

	test(`${kind}: declines an approval at once when the client does not support elicitation`, async t => {
		const client = await startServe(t, await place(t, kind));
		t.is(
			(await client.codex({prompt: 'approve:make all', 'approval-policy': 'on-request'})).structured.content,
			'refused: make all',
		);
	});

	test(`${kind}: events of Codex name the session, and progress uses the client's token [FR-1.1]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const {result} = client.call(
			'codex',
			{prompt: 'say:HELLO\ncommand:ls -l', identity: 'teller'},
			{progressToken: 'tok'},
		);
		const {codexId} = await result;
		const event = await client.running.message(
			({method, params}) =>
				method === 'notifications/message' && objectOf(objectOf(params).data).codex_id === codexId,
		);
		t.like(objectOf(event.params).data, {identity: 'teller'});
		const progress = await client.running.message(({method}) => method === 'notifications/progress');
		t.is(objectOf(progress.params).progressToken, 'tok');
	});

	test(`${kind}: reports the queue position as progress of a queued call`, async t => {
		const client = await startServe(t, await place(t, kind));
		const first = client.call('codex', {prompt: 'slow', identity: 'a'});
		const {codex_id: codexId} = await client.busy('a');
		const second = client.call('codex-reply', {codex_id: codexId, prompt: 'say:2'}, {progressToken: 'q'});
		const {params} = await client.running.message(
			({method, params: received}) =>
				method === 'notifications/progress' && objectOf(received).progressToken === 'q',
		);
		t.regex(String(objectOf(params).message), /ahead of this one: 1\./);
		client.cancel(first.id);
		t.is((await second.result).structured.content, '2');
	});

	test(`${kind}: routes replies of fifty concurrent sessions correctly`, async t => {
		const at = await place(t, kind);
		at.configure('[plugins.codex-mcp]\nmax_concurrent_threads = 50\n');
		const client = await startServe(t, at);
		const names = Array.from({length: 50}, (_, n) => `agent-${n}`);
		const made = await Promise.all(
			names.map(identity => client.codex({prompt: `say:first ${identity}`, identity})),
		);
		t.deepEqual(
			made.map(({structured}) => structured.content),
			names.map(name => `first ${name}`),
		);
		const replies = await Promise.all(
			made.flatMap(({codexId, structured: {identity}}) =>
				[1, 2, 3].map(n => client.reply(codexId, `say:${n} ${identity}`)),
			),
		);
		t.deepEqual(
			replies.map(({structured}) => structured.content),
			names.flatMap(name => [1, 2, 3].map(n => `${n} ${name}`)),
		);
		t.like(await client.status(), {active_thread_count: 50, idle_thread_count: 50});
	});

	test(`${kind}: preserves request ids of any type and keeps them apart from bridge's own [FR-1.1]`, async t => {
		const client = await startServe(t, await place(t, kind));
		const {running} = client;
		running.sendText(
			'{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"name":"codex","arguments":{"prompt":"say:BIG","identity":"big"}}}\n',
		);
		running.send({
			id: '1',
			method: 'tools/call',
			params: {name: 'codex', arguments: {prompt: 'say:STRING', identity: 'string'}},
		});
		running.send({
			id: 1,
			method: 'tools/call',
			params: {name: 'codex', arguments: {prompt: 'say:NUMBER', identity: 'number'}},
		});
		const content = (response: object): unknown =>
			objectOf(objectOf(objectOf(response).result).structuredContent).content;
		t.is(content(await running.answer('1')), 'STRING');
		t.is(content(await running.answer(1)), 'NUMBER');
		await running.message(message => JSON.stringify(message).includes('BIG'));
		t.true(running.lines.some(line => line.includes('"id":12345678901234567890')));
	});
}

test('accepts Content-Length framing and responds in it [FR-1.2]', async t => {
	const at = await place(t, 'app-server');
	const running = startBridge(['serve', '--trust'], {env: at.env, cwd: at.repo});
	t.teardown(() => running.child.kill('SIGKILL'));
	const body = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'initialize', params: opening});
	running.sendText(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
	await running.hasLines(2);
	t.regex(running.lines[0] ?? '', /^Content-Length: \d+/);
});

test('serves a client of 2024-11-05', async t => {
	const at = await place(t, 'app-server');
	const running = startBridge(['serve', '--trust'], {env: at.env, cwd: at.repo});
	t.teardown(() => running.child.kill('SIGKILL'));
	const {result} = await running.request('init', 'initialize', {...opening, protocolVersion: '2024-11-05'});
	t.is(objectOf(result).protocolVersion, '2024-11-05');
	running.send({method: 'notifications/initialized'});
	const response = await running.request(1, 'tools/call', {name: 'codex', arguments: {prompt: 'say:OLD'}});
	t.regex(JSON.stringify(listOf(objectOf(response.result).content)), /OLD.*codex_id: codex:/);
});
