import test from 'ava';
import {parse} from '../../../lib/operators/parse.js';
import {appServer} from '../../../lib/serve/codex/app-server.js';
import {CodexClient} from '../../helpers/codex-client.js';
import {fakeCodex, startFake} from '../../helpers/fake-codex.js';
import {converse, readableLog} from '../../helpers/pipeline.js';

type Json = {readonly [key: string]: unknown};

/** Starts the stage and initializes it. The test plays Codex and sends only the necessary members. */
function startStage(capabilities: Json = {elicitation: {}}) {
	const {log} = readableLog();
	const pair = converse(
		appServer({log, cwd: '/work'}),
		parse({log, from: 'upstream', allowsMissingVersion: true}),
	);
	const {client, upstream} = pair;
	const lastReceived = (method: string): Json | undefined =>
		upstream.received.findLast(body => body.method === method);
	/** Sends a message as Codex does: without `jsonrpc`. */
	const send = (body: Json): void => upstream.sendText(JSON.stringify(body));
	const respond = (method: string, result: Json): void => send({id: lastReceived(method)?.id, result});
	const respondWithError = (method: string, message: string): void =>
		send({id: lastReceived(method)?.id, error: {code: -32600, message}});
	client.send({id: 'i', method: 'initialize', params: {protocolVersion: '2025-06-18', capabilities}});
	respond('initialize', {userAgent: 'bridge/0.166.0 (Debian)'});
	const call = (id: number, name: string, args: Json): void =>
		client.send({id, method: 'tools/call', params: {name, arguments: args}});
	const responseTo = (id: number): Json | undefined =>
		client.received.find(body => body.id === id && body.method === undefined);
	/** Starts turn U of call 1 on thread T. */
	const beginTurn = (): void => {
		call(1, 'codex', {prompt: 'p'});
		respond('thread/start', {thread: {id: 'T', path: '/r'}});
		respond('turn/start', {turn: {id: 'U'}});
		send({method: 'turn/started', params: {threadId: 'T', turn: {id: 'U'}}});
	};
	return {...pair, lastReceived, send, respond, respondWithError, call, responseTo, beginTurn};
}

test('performs the handshake of each protocol on its own side', t => {
	const {client, lastReceived} = startStage();
	t.like(client.received[0], {
		id: 'i',
		result: {protocolVersion: '2025-06-18', serverInfo: {version: '0.166.0'}},
	});
	t.truthy(lastReceived('initialized'));
});

test('maps the arguments of codex to the params of thread/start', t => {
	const {call, lastReceived} = startStage();
	call(1, 'codex', {
		prompt: 'p',
		model: 'm',
		cwd: 'sub',
		sandbox: 'read-only',
		'approval-policy': 'never',
		'base-instructions': 'b',
		'developer-instructions': 'd',
		'compact-prompt': 'c',
		config: {a: 1},
	});
	t.deepEqual(lastReceived('thread/start')?.params, {
		model: 'm',
		cwd: '/work/sub',
		sandbox: 'read-only',
		approvalPolicy: 'never',
		baseInstructions: 'b',
		developerInstructions: 'd',
		config: {a: 1, compact_prompt: 'c'},
	});
});

test('rejects a call before the handshake', t => {
	const {client} = converse(appServer({log: readableLog().log}));
	client.send({id: 1, method: 'tools/call', params: {name: 'codex', arguments: {prompt: 'p'}}});
	t.like(client.received[0], {id: 1, error: {code: -32600}});
});

test('does not start a turn for a call that is cancelled before its thread exists', t => {
	const {client, call, respond, lastReceived, responseTo} = startStage();
	call(1, 'codex', {prompt: 'p'});
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	respond('thread/start', {thread: {id: 'T'}});
	t.like(responseTo(1), {result: {_meta: {'io.bridge/turn': {status: 'interrupted', threadId: 'T'}}}});
	t.is(lastReceived('turn/start'), undefined);
});

test('reloads an unloaded thread, but only once per call', t => {
	const {call, beginTurn, send, respondWithError, lastReceived, respond, responseTo, upstream} = startStage();
	beginTurn();
	send({method: 'turn/completed', params: {threadId: 'T', turn: {id: 'U', status: 'completed', items: []}}});
	call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	t.is(lastReceived('thread/resume'), undefined);
	respondWithError('turn/start', 'thread not found: T');
	respond('thread/resume', {thread: {id: 'T'}});
	respondWithError('turn/start', 'thread not found: T');
	t.like(responseTo(2), {result: {isError: true, _meta: {'io.bridge/turn': {status: 'failed'}}}});
	t.is(upstream.received.filter(({method}) => method === 'thread/resume').length, 1);
	send({method: 'thread/closed', params: {threadId: 'T'}});
});

test('fails, but does not report unknown_thread, if another program has the thread open', t => {
	const {call, respondWithError, responseTo} = startStage();
	call(1, 'codex-reply', {threadId: 'T', prompt: 'q'});
	respondWithError('thread/resume', 'thread T already has an active writer');
	t.like(responseTo(1), {result: {_meta: {'io.bridge/turn': {status: 'failed'}}}});
	t.regex(JSON.stringify(responseTo(1)), /Another program has this thread open/);
});

test('ignores the end of a turn other than the current one', t => {
	const {beginTurn, send, responseTo} = startStage();
	beginTurn();
	send({method: 'turn/completed', params: {threadId: 'T', turn: {id: 'V', status: 'completed', items: []}}});
	send({method: 'turn/completed', params: {threadId: 'S', turn: {id: 'U', status: 'completed', items: []}}});
	t.is(responseTo(1), undefined);
	const items = [{type: 'reasoning'}, {type: 'agentMessage', text: 'A'}, {type: 'agentMessage', text: 'B'}];
	send({method: 'turn/completed', params: {threadId: 'T', turn: {id: 'U', status: 'completed', items}}});
	t.like(responseTo(1), {result: {structuredContent: {threadId: 'T', content: 'B'}}});
});

test('responds to each kind of approval request with the result that it expects', t => {
	const {client, beginTurn, send, upstream} = startStage();
	beginTurn();
	const questions = [{id: 'q', header: 'H', question: 'Q?', options: [{label: 'a'}, {label: 'b'}]}];
	for (const [at, [method, params, content, expected]] of (
		[
			[
				'item/permissions/requestApproval',
				{permissions: {network: {}, fileSystem: null}, cwd: '/'},
				{},
				{permissions: {network: {}}, scope: 'turn'},
			],
			['item/tool/requestUserInput', {questions}, {q: 'a'}, {answers: {q: {answers: ['a']}}}],
			[
				'mcpServer/elicitation/request',
				{mode: 'form', message: 'm', serverName: 's', requestedSchema: {type: 'object'}},
				{x: 1},
				{action: 'accept', content: {x: 1}, _meta: null},
			],
		] as const
	).entries()) {
		send({id: at, method, params: {threadId: 'T', ...params}});
		const elicitation = client.received.findLast(body => body.method === 'elicitation/create');
		client.send({id: elicitation?.id, result: {action: 'accept', content}});
		t.deepEqual(upstream.received.at(-1), {jsonrpc: '2.0', id: at, result: expected}, method);
	}
});

test('rejects requests that no client can respond to', t => {
	const {beginTurn, send, upstream, client} = startStage();
	beginTurn();
	for (const method of ['account/chatgptAuthTokens/refresh', 'item/tool/call', 'whatever', 'constructor']) {
		send({id: 7, method, params: {threadId: 'T'}});
		t.like(upstream.received.at(-1), {id: 7, error: {code: -32601}}, method);
	}
	send({
		id: 8,
		method: 'mcpServer/elicitation/request',
		params: {threadId: 'T', mode: 'url', url: 'http://x'},
	});
	t.like(upstream.received.at(-1), {id: 8, error: {code: -32601}});
	t.false(client.received.some(({method}) => method === 'elicitation/create'));
});

test('withdraws an elicitation that Codex has resolved itself', t => {
	const {beginTurn, send, client} = startStage();
	beginTurn();
	send({id: 3, method: 'item/fileChange/requestApproval', params: {threadId: 'T', itemId: 'i'}});
	send({method: 'serverRequest/resolved', params: {threadId: 'T', requestId: 3}});
	const {id} = client.received.find(({method}) => method === 'elicitation/create') ?? {};
	t.like(client.received.at(-1), {method: 'notifications/cancelled', params: {requestId: id}});
});

test('resumes a thread in another process [FR-6.2]', async t => {
	const {command, home} = await fakeCodex(t, 'app-server');
	const options = {command, env: {CODEX_HOME: home}};
	const before = await CodexClient.ready(t, options);
	const {threadId} = await before.codex('say:ONE');
	await before.backend.close();
	const after = await CodexClient.ready(t, options);
	t.is((await after.reply(threadId, 'show:prompts')).text, '["say:ONE","show:prompts"]');
});

test('continues a thread after the model failed', async t => {
	const client = await startFake(t, 'app-server');
	const first = await client.codex('error:Too many.');
	t.like(first, {status: 'failed', isError: true, error: 'Too many.'});
	t.like(await client.reply(first.threadId, 'say:TWO'), {status: 'completed', text: 'TWO'});
	t.true(client.news('error').length > 0);
});

test('starts no turn and reports the reason if Codex cannot parse its configuration', async t => {
	const {command, home} = await fakeCodex(t, 'app-server', '--broken-config');
	const client = await CodexClient.ready(t, {command, env: {CODEX_HOME: home}});
	const turn = await client.codex('say:ONE');
	t.is(turn.status, 'failed');
	t.regex(turn.text, /config\.toml:1:6.*bridge starts no turns.*Correct the file/);
	t.true((await client.logged()).some(({event}) => event === 'codex.config'));
});

test('ignores garbage on the stdout of Codex', t => {
	const {upstream, client, beginTurn, responseTo} = startStage();
	beginTurn();
	upstream.sendText('Segmentation fault');
	upstream.sendText('{}');
	upstream.sendText('[1]');
	upstream.sendText('{"method":"turn/completed"}');
	upstream.sendText('{"id":99,"result":{}}');
	t.is(responseTo(1), undefined);
	t.false(client.received.some(body => !('jsonrpc' in body)));
});
