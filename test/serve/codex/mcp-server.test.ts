import test from 'ava';
import {mcpServer} from '../../../lib/serve/codex/mcp-server.js';
import {CodexClient} from '../../helpers/codex-client.js';
import {fakeCodex, startFake} from '../../helpers/fake-codex.js';
import {converse, readableLog, until} from '../../helpers/pipeline.js';

type Json = {readonly [key: string]: unknown};

/** The stage alone, with a Codex in the hands of the test. */
function alone(cancelGraceMs = 2000, acknowledgeMs = 5000) {
	const pair = converse(mcpServer({log: readableLog().log, cancelGraceMs, acknowledgeMs}));
	const {client, upstream} = pair;
	const event = (requestId: unknown, msg: Json): void =>
		upstream.send({method: 'codex/event', params: {_meta: {requestId, threadId: 'T'}, msg}});
	const call = (id: number, name: string, given: Json): unknown => {
		client.send({id, method: 'tools/call', params: {name, arguments: given}});
		return upstream.received.at(-1)?.id;
	};
	const answered = (id: number): Json | undefined =>
		client.received.find(body => body.id === id && body.method === undefined);
	const result = (id: unknown, content: string): void =>
		upstream.send({
			id,
			result: {content: [{type: 'text', text: content}], structuredContent: {threadId: 'T', content}},
		});
	/** Begins a turn with the call 1 on the thread T. Returns what Codex knows the call by. */
	const begin = (): unknown => {
		const told = call(1, 'codex', {prompt: 'p'});
		event(told, {type: 'session_configured', thread_id: 'T', rollout_path: '/r'});
		event(told, {type: 'task_started', turn_id: 'U'});
		return told;
	};
	return {...pair, event, call, answered, result, begin};
}

test('after the model failed, the thread is retired: it would answer one turn late', async t => {
	const client = await startFake(t, 'mcp-server');
	const {threadId} = await client.codex('say:ONE');
	const failing = client.reply(threadId, 'slow:50\nerror:Too many.');
	const waiting = client.reply(threadId, 'say:TWO');
	t.like(await failing, {status: 'failed', isThreadRetired: true, threadId: String(threadId)});
	t.regex((await failing).text, /Too many\.\nCodex cannot use this thread any more\./);
	t.is((await waiting).status, 'retired');
	t.like(await client.reply(threadId, 'say:THREE'), {status: 'retired', isError: true});
	t.is((await client.codex('say:NEW')).text, 'NEW');
});

test('a thread of another process is not there', async t => {
	const {command} = await fakeCodex(t, 'mcp-server');
	const before = await CodexClient.ready(t, {command});
	const {threadId} = await before.codex('say:ONE');
	await before.backend.close();
	const after = await CodexClient.ready(t, {command});
	t.is((await after.reply(threadId, 'say:TWO')).status, 'unknown_thread');
});

test('ids are kept apart: those of the client, of Codex, and of its questions', t => {
	const {client, upstream, begin} = alone();
	client.send({id: 'i', method: 'initialize', params: {capabilities: {elicitation: {}}}});
	upstream.send({id: upstream.received.at(-1)?.id, result: {serverInfo: {name: 'c', version: '1'}}});
	const told = begin();
	t.not(told, 1);
	upstream.send({id: told, method: 'elicitation/create', params: {message: 'May I?', threadId: 'T'}});
	const asked = client.received.findLast(({method}) => method === 'elicitation/create');
	t.not(asked?.id, told);
	client.send({id: asked?.id, result: {action: 'accept', content: {}}});
	t.like(upstream.received.at(-1), {id: told, result: {decision: 'approved'}});
});

test('an answer under the id of a cancelled call is that of the call whose turn it is', t => {
	const {client, event, call, answered, result, begin} = alone();
	const old = begin();
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	event(old, {type: 'turn_aborted', reason: 'interrupted'});
	t.like(answered(1), {result: {_meta: {'io.bridge/turn': {status: 'interrupted'}}}});
	const next = call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	event(old, {type: 'task_started'});
	result(old, 'TWO');
	t.like(answered(2), {result: {structuredContent: {content: 'TWO'}}});
	call(3, 'codex-reply', {threadId: 'T', prompt: 'r'});
	result(next, 'THREE');
	t.like(answered(3), {result: {structuredContent: {content: 'THREE'}}});
	result(old, 'NOBODY');
	t.is(client.received.filter(({method}) => method === undefined).length, 3);
});

test('an early Codex (0.104) names the thread beside its event alone [NFR-4]', t => {
	const {event, call, result, answered, client} = alone();
	const told = call(1, 'codex', {prompt: 'p'});
	event(told, {type: 'session_configured', session_id: 'T', rollout_path: '/r'});
	t.like(client.received.at(-1), {
		method: 'notifications/io.bridge/thread',
		params: {threadId: 'T', rolloutPath: '/r'},
	});
	result(told, 'ONE');
	t.like(answered(1)?.result, {structuredContent: {threadId: 'T', content: 'ONE'}});
});

test('a cancellation goes out only when the turn has started', t => {
	const {client, upstream, event, call} = alone();
	const told = call(1, 'codex', {prompt: 'p'});
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	event(told, {type: 'session_configured', thread_id: 'T'});
	t.false(upstream.received.some(({method}) => method === 'notifications/cancelled'));
	event(told, {type: 'task_started'});
	t.like(upstream.received.at(-1), {method: 'notifications/cancelled', params: {requestId: told}});
});

test('a turn that Codex stops too late: the thread is free then, and nobody hears twice', async t => {
	const {client, upstream, event, call, answered, result, begin} = alone(1);
	const told = begin();
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	await until(() => answered(1) !== undefined);
	const before = upstream.received.length;
	call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	t.is(upstream.received.length, before);
	event(told, {type: 'agent_message', message: 'LATE'});
	result(told, 'LATE');
	t.like(upstream.received.at(-1), {method: 'tools/call', params: {name: 'codex-reply'}});
	result(upstream.received.at(-1)?.id, 'TWO');
	t.like(answered(2), {result: {structuredContent: {content: 'TWO'}}});
	t.is(client.received.filter(({id, method}) => id === 1 && method === undefined).length, 1);
});

test('leave that is asked for in a way that nobody can answer ends the turn, with the reason', t => {
	const {event, answered, begin, upstream} = alone();
	const told = begin();
	event(told, {type: 'elicitation_request', server_name: 's'});
	t.like(upstream.received.at(-1), {method: 'notifications/cancelled'});
	event(told, {type: 'turn_aborted', reason: 'interrupted'});
	t.like(answered(1), {result: {isError: true, _meta: {'io.bridge/turn': {status: 'failed'}}}});
	t.regex(JSON.stringify(answered(1)), /default_tools_approval_mode/);
});

test('an error in the place of a result is a failed turn', t => {
	const {upstream, answered, begin, call} = alone();
	upstream.send({id: begin(), error: {code: -32603, message: 'Oh.'}});
	// Its thread is known, and free again.
	t.like(answered(1), {result: {isError: true, content: [{text: 'Oh.'}]}});
	call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	t.like(upstream.received.at(-1), {method: 'tools/call'});
});

test('requests of Codex that nobody knows are refused; its notifications pass', t => {
	const {client, upstream} = alone();
	upstream.send({id: 5, method: 'roots/list'});
	t.like(upstream.received.at(-1), {id: 5, error: {code: -32601}});
	upstream.send({method: 'notifications/tools/list_changed'});
	t.like(client.received.at(-1), {method: 'notifications/tools/list_changed'});
});

test('a thread with as many waiting calls as may be refuses the next', t => {
	const {call, answered, begin} = alone();
	begin();
	for (let id = 2; id <= 40; id++) call(id, 'codex-reply', {threadId: 'T', prompt: String(id)});
	t.is(answered(33), undefined);
	t.regex(JSON.stringify(answered(34)), /Too many calls wait/);
});

/** The call 2 on the thread T, which was freed before Codex had sent anything of its turn, and the calls that wait for it. */
async function freed(...waiting: number[]) {
	const codex = alone(1, 1);
	const {client, upstream, call, begin, result} = codex;
	result(begin(), 'ONE');
	const old = call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	for (const id of waiting) call(id, 'codex-reply', {threadId: 'T', prompt: 'r'});
	client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	upstream.send({id: upstream.received.findLast(({method}) => method === 'ping')?.id, result: {}});
	const calls = (): Json[] => upstream.received.filter(({method}) => method === 'tools/call');
	const cancelled = (): unknown[] =>
		upstream.received
			.filter(({method}) => method === 'notifications/cancelled')
			.map(({params}) => (params as Json).requestId);
	return {...codex, old, calls, cancelled};
}

test('a freed turn that starts late is interrupted under its own id, and calls wait for its end [S-D1]', async t => {
	const {event, call, calls, result, answered, old, cancelled, upstream} = await freed(3);
	await until(() => calls().length === 3);
	result(upstream.received.at(-1)?.id, 'THREE');
	t.like(answered(3), {result: {structuredContent: {content: 'THREE'}}});
	event(old, {type: 'task_started', turn_id: 'V'});
	t.deepEqual(cancelled(), [old]);
	call(4, 'codex-reply', {threadId: 'T', prompt: 's'});
	t.is(calls().length, 3);
	event(old, {type: 'turn_aborted', reason: 'interrupted'});
	t.is(calls().length, 4);
	result(old, 'FOUR');
	t.like(answered(4), {result: {structuredContent: {content: 'FOUR'}}});
});

test('a freed turn that starts late ends the next call, whose own turn is interrupted, too [S-D1]', async t => {
	const {event, calls, answered, old, cancelled, upstream} = await freed(3, 4);
	await until(() => calls().length === 3);
	const next = upstream.received.at(-1)?.id;
	event(old, {type: 'task_started', turn_id: 'V'});
	for (const id of [3, 4]) t.like(answered(id), {result: {_meta: {'io.bridge/turn': {status: 'retired'}}}});
	t.deepEqual(cancelled(), [old]);
	event(old, {type: 'turn_aborted', reason: 'interrupted'});
	event(next, {type: 'task_started', turn_id: 'W'});
	t.deepEqual(cancelled(), [old, next]);
	t.is(calls().length, 3);
});

test('a result under the request of a freed call is not that of the next call [S-D1]', async t => {
	const {event, calls, answered, result, old, cancelled, upstream} = await freed(3);
	await until(() => calls().length === 3);
	event(upstream.received.at(-1)?.id, {type: 'task_started', turn_id: 'V'});
	result(old, 'CANCELLED');
	t.like(answered(3), {result: {_meta: {'io.bridge/turn': {status: 'failed', isThreadRetired: true}}}});
	t.notRegex(JSON.stringify(answered(3)), /CANCELLED/);
	t.deepEqual(cancelled(), [old]);
});
