import test from 'ava';
import {mcpServer} from '../../../lib/serve/codex/mcp-server.js';
import {CodexClient} from '../../helpers/codex-client.js';
import {fakeCodex, startFake} from '../../helpers/fake-codex.js';
import {converse, readableLog, until} from '../../helpers/pipeline.js';

type Json = {readonly [key: string]: unknown};

/** Starts the stage. The test plays Codex. */
function startStage(cancelGraceMs = 2000, acknowledgeMs = 5000) {
	const pair = converse(mcpServer({log: readableLog().log, cancelGraceMs, acknowledgeMs}));
	const {client, upstream} = pair;
	const sendEvent = (requestId: unknown, msg: Json): void =>
		upstream.send({method: 'codex/event', params: {_meta: {requestId, threadId: 'T'}, msg}});
	const call = (id: number, name: string, args: Json): unknown => {
		client.send({id, method: 'tools/call', params: {name, arguments: args}});
		return upstream.received.at(-1)?.id;
	};
	const responseTo = (id: number): Json | undefined =>
		client.received.find(body => body.id === id && body.method === undefined);
	const sendResult = (id: unknown, content: string): void =>
		upstream.send({
			id,
			result: {content: [{type: 'text', text: content}], structuredContent: {threadId: 'T', content}},
		});
	/** Starts turn U of call 1 on thread T. Returns the id of the call that Codex receives. */
	const beginTurn = (): unknown => {
		const codexId = call(1, 'codex', {prompt: 'p'});
		sendEvent(codexId, {type: 'session_configured', thread_id: 'T', rollout_path: '/r'});
		sendEvent(codexId, {type: 'task_started', turn_id: 'U'});
		return codexId;
	};
	return {...pair, sendEvent, call, responseTo, sendResult, beginTurn};
}

test('retires a thread after the model failed, since later results on it would be late by one turn', async t => {
	const client = await startFake(t, 'mcp-server');
	const {threadId} = await client.codex('say:ONE');
	const failing = client.reply(threadId, 'slow:50\nerror:Too many.');
	const waiting = client.reply(threadId, 'say:TWO');
	t.like(await failing, {status: 'failed', isThreadRetired: true, threadId: String(threadId)});
	t.regex((await failing).text, /Too many\.\nCodex can no longer use this thread\./);
	t.is((await waiting).status, 'retired');
	t.like(await client.reply(threadId, 'say:THREE'), {status: 'retired', isError: true});
	t.is((await client.codex('say:NEW')).text, 'NEW');
});

test('reports unknown_thread for a thread of another process', async t => {
	const {command} = await fakeCodex(t, 'mcp-server');
	const before = await CodexClient.ready(t, {command});
	const {threadId} = await before.codex('say:ONE');
	await before.backend.close();
	const after = await CodexClient.ready(t, {command});
	t.is((await after.reply(threadId, 'say:TWO')).status, 'unknown_thread');
});

test('keeps the ids of the client, of requests to Codex and of elicitations apart', t => {
	const {client, upstream, beginTurn} = startStage();
	client.send({id: 'i', method: 'initialize', params: {capabilities: {elicitation: {}}}});
	upstream.send({id: upstream.received.at(-1)?.id, result: {serverInfo: {name: 'c', version: '1'}}});
	const codexId = beginTurn();
	t.not(codexId, 1);
	upstream.send({id: codexId, method: 'elicitation/create', params: {message: 'May I?', threadId: 'T'}});
	const elicitation = client.received.findLast(({method}) => method === 'elicitation/create');
	t.not(elicitation?.id, codexId);
	client.send({id: elicitation?.id, result: {action: 'accept', content: {}}});
	t.like(upstream.received.at(-1), {id: codexId, result: {decision: 'approved'}});
});

test('assigns a result under the id of a cancelled call to the current call of the thread', t => {
	const {client, sendEvent, call, responseTo, sendResult, beginTurn} = startStage();
	const old = beginTurn();
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	sendEvent(old, {type: 'turn_aborted', reason: 'interrupted'});
	t.like(responseTo(1), {result: {_meta: {'io.bridge/turn': {status: 'interrupted'}}}});
	const next = call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	sendEvent(old, {type: 'task_started'});
	sendResult(old, 'TWO');
	t.like(responseTo(2), {result: {structuredContent: {content: 'TWO'}}});
	call(3, 'codex-reply', {threadId: 'T', prompt: 'r'});
	sendResult(next, 'THREE');
	t.like(responseTo(3), {result: {structuredContent: {content: 'THREE'}}});
	sendResult(old, 'ORPHAN');
	t.is(client.received.filter(({method}) => method === undefined).length, 3);
});

test('reads the thread from _meta for early versions of Codex (0.104) [NFR-4]', t => {
	const {sendEvent, call, sendResult, responseTo, client} = startStage();
	const codexId = call(1, 'codex', {prompt: 'p'});
	sendEvent(codexId, {type: 'session_configured', session_id: 'T', rollout_path: '/r'});
	t.like(client.received.at(-1), {
		method: 'notifications/io.bridge/thread',
		params: {threadId: 'T', rolloutPath: '/r'},
	});
	sendResult(codexId, 'ONE');
	t.like(responseTo(1)?.result, {structuredContent: {threadId: 'T', content: 'ONE'}});
});

test('sends a cancellation only after the turn has started', t => {
	const {client, upstream, sendEvent, call} = startStage();
	const codexId = call(1, 'codex', {prompt: 'p'});
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	sendEvent(codexId, {type: 'session_configured', thread_id: 'T'});
	t.false(upstream.received.some(({method}) => method === 'notifications/cancelled'));
	sendEvent(codexId, {type: 'task_started'});
	t.like(upstream.received.at(-1), {method: 'notifications/cancelled', params: {requestId: codexId}});
});

test('frees a thread when Codex stops its turn late, and does not respond twice', async t => {
	const {client, upstream, sendEvent, call, responseTo, sendResult, beginTurn} = startStage(1);
	const codexId = beginTurn();
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	await until(() => responseTo(1) !== undefined);
	const before = upstream.received.length;
	call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	t.is(upstream.received.length, before);
	sendEvent(codexId, {type: 'agent_message', message: 'LATE'});
	sendResult(codexId, 'LATE');
	t.like(upstream.received.at(-1), {method: 'tools/call', params: {name: 'codex-reply'}});
	sendResult(upstream.received.at(-1)?.id, 'TWO');
	t.like(responseTo(2), {result: {structuredContent: {content: 'TWO'}}});
	t.is(client.received.filter(({id, method}) => id === 1 && method === undefined).length, 1);
});

test('ends a turn with the reason if Codex requests approval in a way that accepts no response', t => {
	const {sendEvent, responseTo, beginTurn, upstream} = startStage();
	const codexId = beginTurn();
	sendEvent(codexId, {type: 'elicitation_request', server_name: 's'});
	t.like(upstream.received.at(-1), {method: 'notifications/cancelled'});
	sendEvent(codexId, {type: 'turn_aborted', reason: 'interrupted'});
	t.like(responseTo(1), {result: {isError: true, _meta: {'io.bridge/turn': {status: 'failed'}}}});
	t.regex(JSON.stringify(responseTo(1)), /default_tools_approval_mode/);
});

test('reports an error response of Codex as a failed turn', t => {
	const {upstream, responseTo, beginTurn, call} = startStage();
	upstream.send({id: beginTurn(), error: {code: -32603, message: 'Oh.'}});
	// The thread was released.
	t.like(responseTo(1), {result: {isError: true, content: [{text: 'Oh.'}]}});
	call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	t.like(upstream.received.at(-1), {method: 'tools/call'});
});

test('rejects unknown requests of Codex, and forwards its notifications', t => {
	const {client, upstream} = startStage();
	upstream.send({id: 5, method: 'roots/list'});
	t.like(upstream.received.at(-1), {id: 5, error: {code: -32601}});
	upstream.send({method: 'notifications/tools/list_changed'});
	t.like(client.received.at(-1), {method: 'notifications/tools/list_changed'});
});

test('rejects a call if the queue of its thread is full', t => {
	const {call, responseTo, beginTurn} = startStage();
	beginTurn();
	for (let id = 2; id <= 40; id++) call(id, 'codex-reply', {threadId: 'T', prompt: String(id)});
	t.is(responseTo(33), undefined);
	t.regex(JSON.stringify(responseTo(34)), /Too many calls are queued/);
});

/** Starts call 2 on thread T and the queued calls, and frees the thread before Codex reports the turn. */
async function freedTurn(...queued: number[]) {
	const codex = startStage(1, 1);
	const {client, upstream, call, beginTurn, sendResult} = codex;
	sendResult(beginTurn(), 'ONE');
	const old = call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	for (const id of queued) call(id, 'codex-reply', {threadId: 'T', prompt: 'r'});
	client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	upstream.send({id: upstream.received.findLast(({method}) => method === 'ping')?.id, result: {}});
	const calls = (): Json[] => upstream.received.filter(({method}) => method === 'tools/call');
	const cancelled = (): unknown[] =>
		upstream.received
			.filter(({method}) => method === 'notifications/cancelled')
			.map(({params}) => (params as Json).requestId);
	return {...codex, old, calls, cancelled};
}

test('interrupts a freed turn that starts late under its own id, and queues calls until it ends [S-D1]', async t => {
	const {sendEvent, call, calls, sendResult, responseTo, old, cancelled, upstream} = await freedTurn(3);
	await until(() => calls().length === 3);
	sendResult(upstream.received.at(-1)?.id, 'THREE');
	t.like(responseTo(3), {result: {structuredContent: {content: 'THREE'}}});
	sendEvent(old, {type: 'task_started', turn_id: 'V'});
	t.deepEqual(cancelled(), [old]);
	call(4, 'codex-reply', {threadId: 'T', prompt: 's'});
	t.is(calls().length, 3);
	sendEvent(old, {type: 'turn_aborted', reason: 'interrupted'});
	t.is(calls().length, 4);
	sendResult(old, 'FOUR');
	t.like(responseTo(4), {result: {structuredContent: {content: 'FOUR'}}});
});

test('fails the next call when a freed turn starts late, and interrupts the turn of that call, too [S-D1]', async t => {
	const {sendEvent, calls, responseTo, old, cancelled, upstream} = await freedTurn(3, 4);
	await until(() => calls().length === 3);
	const next = upstream.received.at(-1)?.id;
	sendEvent(old, {type: 'task_started', turn_id: 'V'});
	for (const id of [3, 4]) t.like(responseTo(id), {result: {_meta: {'io.bridge/turn': {status: 'retired'}}}});
	t.deepEqual(cancelled(), [old]);
	sendEvent(old, {type: 'turn_aborted', reason: 'interrupted'});
	sendEvent(next, {type: 'task_started', turn_id: 'W'});
	t.deepEqual(cancelled(), [old, next]);
	t.is(calls().length, 3);
});

test('does not return a result under the id of a freed call to the next call [S-D1]', async t => {
	const {sendEvent, calls, responseTo, sendResult, old, cancelled, upstream} = await freedTurn(3);
	await until(() => calls().length === 3);
	sendEvent(upstream.received.at(-1)?.id, {type: 'task_started', turn_id: 'V'});
	sendResult(old, 'CANCELLED');
	t.like(responseTo(3), {result: {_meta: {'io.bridge/turn': {status: 'failed', isThreadRetired: true}}}});
	t.notRegex(JSON.stringify(responseTo(3)), /CANCELLED/);
	t.deepEqual(cancelled(), [old]);
});
