import test from 'ava';
import {ToolError} from '../../../lib/serve/sessions/tool-error.js';
import {objectOf} from '../../../lib/util/json.js';
import {settled, until} from '../../helpers/pipeline.js';
import {sessionStages} from './support.js';

test('forwards all messages other than calls of its tools unchanged [FR-1.1]', async t => {
	const {client, upstream} = await sessionStages();
	client.sendText('{"jsonrpc":"2.0","id":1,"method":"ping"}');
	client.sendText('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}');
	client.sendText(
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"other","arguments":{"identity":"x"}}}',
	);
	t.is(upstream.receivedTexts.length, 3);
	t.regex(upstream.receivedTexts[2] ?? '', /"arguments":\{"identity":"x"\}/);
	upstream.sendText('{"jsonrpc":"2.0","method":"notifications/x"}');
	t.deepEqual(client.receivedTexts, ['{"jsonrpc":"2.0","method":"notifications/x"}']);
});

test('sends only arguments of Codex to Codex, with request ids of bridge [3.10]', async t => {
	const {call, nthCall} = await sessionStages();
	const own = {identity: 'a', role: undefined, tag: 't', auto_mail: true};
	call(7, 'codex', {prompt: 'p', model: 'm', ...own});
	const {id, params} = await nthCall(1);
	t.regex(String(id), /^turn-/);
	t.deepEqual(
		Object.keys(objectOf(objectOf(params).arguments)).sort((one, other) => one.localeCompare(other)),
		['cwd', 'developer-instructions', 'model', 'prompt'],
	);
});

test('responds to a timed-out turn that Codex does not stop, and drops the late response [14.2] [H8]', async t => {
	const stages = await sessionStages({timeoutMs: 30, stopMs: 30});
	const {call, nthCall, respond, result, upstream, client, sessions} = stages;
	call(1, 'codex', {prompt: 'p', identity: 'a'});
	const request = await nthCall(1);
	upstream.send({method: 'notifications/io.bridge/thread', params: {requestId: request.id, threadId: 't1'}});
	const late = await result(1);
	t.like(objectOf(late.structuredContent).error, {code: -32006, kind: 'timeout'});
	t.true(
		upstream.received.some(
			({method, params}) => method === 'notifications/cancelled' && objectOf(params).requestId === request.id,
		),
	);
	t.is(sessions.live[0]?.lifecycle.stage, 'idle');
	const {length} = client.received;
	respond(request, 't1', 'late');
	await settled();
	t.is(client.received.length, length);
	call(2, 'codex-reply', {threadId: 't1', prompt: 'q'});
	respond(await nthCall(2), 't1', 'in time');
	t.is(objectOf((await result(2)).structuredContent).content, 'in time');
});

test('a call that ends without a thread leaves no session behind [5.4]', async t => {
	const {call, nthCall, upstream, result, sessions, registry} = await sessionStages();
	call(1, 'codex', {prompt: 'p', identity: 'a'});
	const {id} = await nthCall(1);
	upstream.send({
		id,
		result: {
			content: [{type: 'text', text: 'no'}],
			isError: true,
			_meta: {'io.bridge/turn': {status: 'failed'}},
		},
	});
	t.true((await result(1)).isError);
	t.deepEqual(sessions.live, []);
	t.deepEqual(registry.entries(), []);
	call(2, 'codex', {prompt: 'p', identity: 'a'});
	await nthCall(2);
	t.is(sessions.live.length, 1);
});

test('returns a JSON-RPC error of Codex as a tool result', async t => {
	const {call, nthCall, upstream, result} = await sessionStages();
	call(1, 'codex', {prompt: 'p', identity: 'a'});
	upstream.send({id: (await nthCall(1)).id, error: {code: -32603, message: 'broken inside'}});
	t.regex(JSON.stringify(await result(1)), /broken inside.*"isError":true/);
});

test('does not forward a call that is cancelled during its preparation', async t => {
	const {client, call, result, upstream, sessions} = await sessionStages();
	call(1, 'codex', {prompt: 'p', identity: 'a'});
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.like(objectOf((await result(1)).structuredContent).error, {kind: 'cancelled'});
	t.deepEqual(upstream.received, []);
	t.deepEqual(sessions.live, []);
});

test('replaces a retired thread, keeps the codex_id and reports the previous thread [6.3]', async t => {
	const {call, nthCall, respond, upstream, result, sessions} = await sessionStages();
	call(1, 'codex', {prompt: 'p', identity: 'a', 'base-instructions': 'BASE'});
	respond(await nthCall(1), 't1', 'one');
	const {codex_id: codexId} = objectOf((await result(1)).structuredContent);
	call(2, 'codex-reply', {codex_id: codexId, prompt: 'q'});
	upstream.send({
		id: (await nthCall(2)).id,
		result: {content: [], isError: true, _meta: {'io.bridge/turn': {status: 'retired', threadId: 't1'}}},
	});
	const again = await nthCall(3);
	t.like(again.params, {name: 'codex', arguments: {prompt: 'q', 'base-instructions': 'BASE'}});
	respond(again, 't2', 'two');
	const structured = objectOf((await result(2)).structuredContent);
	t.like(structured, {
		content: 'two',
		codex_id: codexId,
		threadId: 't2',
		resumed: {context: 'none', previous_thread_id: 't1'},
	});
	t.like(sessions.live[0]?.entry, {thread_id: 't2', previous_thread_ids: ['t1']});
});

test('fails pending and later calls when Codex has exited [FR-11.1]', async t => {
	const {call, nthCall, respond, result, runner, sessions, registry} = await sessionStages();
	call(1, 'codex', {prompt: 'p', identity: 'idle'});
	respond(await nthCall(1), 't1', 'one');
	const {codex_id: codexId} = objectOf((await result(1)).structuredContent);
	call(2, 'codex-reply', {codex_id: codexId, prompt: 'q'});
	await nthCall(2);
	call(3, 'codex-reply', {codex_id: codexId, prompt: 'r'});
	await until(() => sessions.live[0]?.turnQueue.queue.length === 1);
	runner.codexExited(
		new ToolError('child_dead', 'codex was ended by SIGKILL.', {exit_code: null, signal: 'SIGKILL'}),
	);
	call(4, 'codex', {prompt: 'p', identity: 'new'});
	for (const id of [2, 3, 4])
		t.like(objectOf((await result(id)).structuredContent).error, {code: -32005, signal: 'SIGKILL'}, `${id}`);
	await until(() => sessions.live.length === 0);
	t.is(registry.entries()[0]?.status, 'stale');
});

test('audits each turn before its response, under one correlation id, and all rejected calls [K8]', async t => {
	const {call, nthCall, respond, result, written} = await sessionStages();
	call(1, 'codex', {prompt: 'secret plan', identity: 'a'});
	const request = await nthCall(1);
	t.like(written[0], {
		event: 'codex',
		outcome: 'started',
		identity: 'a',
		prompt: 'secret plan',
		team: 'team',
	});
	respond(request, 't1', 'one');
	await result(1);
	t.like(written[1], {
		event: 'codex',
		outcome: 'completed',
		threadId: 't1',
		correlationId: written[0]?.correlationId,
	});
	call(2, 'codex', {prompt: 'x', identity: 'a'});
	await result(2);
	t.like(written[2], {
		event: 'refusal',
		outcome: 'refused',
		identity: 'a',
		details: {tool: 'codex', code: -32001},
	});
	call(3, 'codex_close', {identity: 'a'});
	await result(3);
	t.deepEqual(
		written.slice(3).map(({event, outcome}) => `${event} ${outcome}`),
		['codex_close started', 'codex_close closed'],
	);
});

test('a session that is closed during the preparation of its first call leaves nothing behind', async t => {
	const {call, result, sessions} = await sessionStages();
	call(1, 'codex', {prompt: 'p', identity: 'a'});
	call(2, 'codex_close', {identity: 'a'});
	t.like((await result(2)).structuredContent, {closed: true});
	t.like(objectOf((await result(1)).structuredContent).error, {code: -32003});
	t.deepEqual(sessions.live, []);
	call(3, 'codex', {prompt: 'p', identity: 'a'});
	await until(() => sessions.live.length === 1);
});

test('an identity is available again as soon as the response to a failed start arrives [3.10]', async t => {
	const {call, nthCall, upstream, result, sessions} = await sessionStages();
	for (let id = 1; id <= 5; id++) {
		call(id, 'codex', {prompt: 'p', identity: 'a'});
		const request = await nthCall(id);
		upstream.send({
			id: request.id,
			result: {content: [], isError: true, _meta: {'io.bridge/turn': {status: 'failed'}}},
		});
		await result(id);
	}
	t.deepEqual(sessions.live, []);
});

test('restores the settings of a session when Codex does not start the turn that changes them', async t => {
	const {call, nthCall, respond, upstream, result, sessions} = await sessionStages();
	call(1, 'codex', {prompt: 'p', identity: 'a', model: 'one'});
	respond(await nthCall(1), 't1', 'done');
	const {codex_id: codexId} = objectOf((await result(1)).structuredContent);
	call(2, 'codex', {codex_id: codexId, prompt: 'q', model: 'two'});
	const {id} = await nthCall(2);
	t.is(sessions.live[0]?.launchArguments.model, 'two');
	upstream.send({id, error: {code: -32603, message: 'broken'}});
	await result(2);
	t.is(sessions.live[0]?.launchArguments.model, 'one');
});
