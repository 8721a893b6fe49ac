import test from 'ava';
import {parse} from '../../../lib/operators/parse.js';
import {appServer} from '../../../lib/serve/codex/app-server.js';
import {CodexClient} from '../../helpers/codex-client.js';
import {fakeCodex, startFake} from '../../helpers/fake-codex.js';
import {converse, readableLog} from '../../helpers/pipeline.js';

type Json = {readonly [key: string]: unknown};

/** The stage alone, with a Codex in the hands of the test that says no more than it has to. */
function alone(capabilities: Json = {elicitation: {}}) {
	const {log} = readableLog();
	const pair = converse(
		appServer({log, cwd: '/work'}),
		parse({log, from: 'upstream', allowsMissingVersion: true}),
	);
	const {client, upstream} = pair;
	const heard = (method: string): Json | undefined =>
		upstream.received.findLast(body => body.method === method);
	/** As Codex does: without `jsonrpc`. */
	const say = (body: Json): void => upstream.sendText(JSON.stringify(body));
	const answer = (method: string, result: Json): void => say({id: heard(method)?.id, result});
	const refuse = (method: string, message: string): void =>
		say({id: heard(method)?.id, error: {code: -32600, message}});
	client.send({id: 'i', method: 'initialize', params: {protocolVersion: '2025-06-18', capabilities}});
	answer('initialize', {userAgent: 'bridge/0.166.0 (Debian)'});
	const call = (id: number, name: string, given: Json): void =>
		client.send({id, method: 'tools/call', params: {name, arguments: given}});
	const answered = (id: number): Json | undefined =>
		client.received.find(body => body.id === id && body.method === undefined);
	/** Begins a turn with the call 1 on the thread T. */
	const begin = (): void => {
		call(1, 'codex', {prompt: 'p'});
		answer('thread/start', {thread: {id: 'T', path: '/r'}});
		answer('turn/start', {turn: {id: 'U'}});
		say({method: 'turn/started', params: {threadId: 'T', turn: {id: 'U'}}});
	};
	return {...pair, heard, say, answer, refuse, call, answered, begin};
}

test('shakes hands in both protocols, each in its own', t => {
	const {client, heard} = alone();
	t.like(client.received[0], {
		id: 'i',
		result: {protocolVersion: '2025-06-18', serverInfo: {version: '0.166.0'}},
	});
	t.truthy(heard('initialized'));
});

test('the arguments of codex are those of thread/start', t => {
	const {call, heard} = alone();
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
	t.deepEqual(heard('thread/start')?.params, {
		model: 'm',
		cwd: '/work/sub',
		sandbox: 'read-only',
		approvalPolicy: 'never',
		baseInstructions: 'b',
		developerInstructions: 'd',
		config: {a: 1, compact_prompt: 'c'},
	});
});

test('a call before the handshake is refused', t => {
	const {client} = converse(appServer({log: readableLog().log}));
	client.send({id: 1, method: 'tools/call', params: {name: 'codex', arguments: {prompt: 'p'}}});
	t.like(client.received[0], {id: 1, error: {code: -32600}});
});

test('a call that is cancelled before its thread is there starts no turn', t => {
	const {client, call, answer, heard, answered} = alone();
	call(1, 'codex', {prompt: 'p'});
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	answer('thread/start', {thread: {id: 'T'}});
	t.like(answered(1), {result: {_meta: {'io.bridge/turn': {status: 'interrupted', threadId: 'T'}}}});
	t.is(heard('turn/start'), undefined);
});

test('a thread that was put out of memory is loaded again, once', t => {
	const {call, begin, say, refuse, heard, answer, answered, upstream} = alone();
	begin();
	say({method: 'turn/completed', params: {threadId: 'T', turn: {id: 'U', status: 'completed', items: []}}});
	call(2, 'codex-reply', {threadId: 'T', prompt: 'q'});
	t.is(heard('thread/resume'), undefined);
	refuse('turn/start', 'thread not found: T');
	answer('thread/resume', {thread: {id: 'T'}});
	refuse('turn/start', 'thread not found: T');
	t.like(answered(2), {result: {isError: true, _meta: {'io.bridge/turn': {status: 'failed'}}}});
	t.is(upstream.received.filter(({method}) => method === 'thread/resume').length, 1);
	say({method: 'thread/closed', params: {threadId: 'T'}});
});

test('a thread that somebody else has open is no unknown one', t => {
	const {call, refuse, answered} = alone();
	call(1, 'codex-reply', {threadId: 'T', prompt: 'q'});
	refuse('thread/resume', 'thread T already has an active writer');
	t.like(answered(1), {result: {_meta: {'io.bridge/turn': {status: 'failed'}}}});
	t.regex(JSON.stringify(answered(1)), /Another program has this thread open/);
});

test('the end of another turn than the one that runs ends nothing', t => {
	const {begin, say, answered} = alone();
	begin();
	say({method: 'turn/completed', params: {threadId: 'T', turn: {id: 'V', status: 'completed', items: []}}});
	say({method: 'turn/completed', params: {threadId: 'S', turn: {id: 'U', status: 'completed', items: []}}});
	t.is(answered(1), undefined);
	const items = [{type: 'reasoning'}, {type: 'agentMessage', text: 'A'}, {type: 'agentMessage', text: 'B'}];
	say({method: 'turn/completed', params: {threadId: 'T', turn: {id: 'U', status: 'completed', items}}});
	t.like(answered(1), {result: {structuredContent: {threadId: 'T', content: 'B'}}});
});

test('questions of every kind, each answered as it wants to be', t => {
	const {client, begin, say, upstream} = alone();
	begin();
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
		say({id: at, method, params: {threadId: 'T', ...params}});
		const asked = client.received.findLast(body => body.method === 'elicitation/create');
		client.send({id: asked?.id, result: {action: 'accept', content}});
		t.deepEqual(upstream.received.at(-1), {jsonrpc: '2.0', id: at, result: expected}, method);
	}
});

test('what nobody can answer is refused, never left waiting', t => {
	const {begin, say, upstream, client} = alone();
	begin();
	for (const method of ['account/chatgptAuthTokens/refresh', 'item/tool/call', 'whatever', 'constructor']) {
		say({id: 7, method, params: {threadId: 'T'}});
		t.like(upstream.received.at(-1), {id: 7, error: {code: -32601}}, method);
	}
	say({
		id: 8,
		method: 'mcpServer/elicitation/request',
		params: {threadId: 'T', mode: 'url', url: 'http://x'},
	});
	t.like(upstream.received.at(-1), {id: 8, error: {code: -32601}});
	t.false(client.received.some(({method}) => method === 'elicitation/create'));
});

test('a question that Codex has answered itself is withdrawn', t => {
	const {begin, say, client} = alone();
	begin();
	say({id: 3, method: 'item/fileChange/requestApproval', params: {threadId: 'T', itemId: 'i'}});
	say({method: 'serverRequest/resolved', params: {threadId: 'T', requestId: 3}});
	const {id} = client.received.find(({method}) => method === 'elicitation/create') ?? {};
	t.like(client.received.at(-1), {method: 'notifications/cancelled', params: {requestId: id}});
});

test('another process goes on with a thread [FR-6.2]', async t => {
	const {command, home} = await fakeCodex(t, 'app-server');
	const options = {command, env: {CODEX_HOME: home}};
	const before = await CodexClient.ready(t, options);
	const {threadId} = await before.codex('say:ONE');
	await before.backend.close();
	const after = await CodexClient.ready(t, options);
	t.is((await after.reply(threadId, 'show:prompts')).text, '["say:ONE","show:prompts"]');
});

test('after the model failed, the thread goes on', async t => {
	const client = await startFake(t, 'app-server');
	const first = await client.codex('error:Too many.');
	t.like(first, {status: 'failed', isError: true, error: 'Too many.'});
	t.like(await client.reply(first.threadId, 'say:TWO'), {status: 'completed', text: 'TWO'});
	t.true(client.news('error').length > 0);
});

test('a configuration that it cannot read: nothing is started, and everybody is told why', async t => {
	const {command, home} = await fakeCodex(t, 'app-server', '--broken-config');
	const client = await CodexClient.ready(t, {command, env: {CODEX_HOME: home}});
	const turn = await client.codex('say:ONE');
	t.is(turn.status, 'failed');
	t.regex(turn.text, /config\.toml:1:6.*Nothing is started.*Correct the file/);
	t.true((await client.logged()).some(({event}) => event === 'codex.config'));
});

test('garbage on its stdout does no harm', t => {
	const {upstream, client, begin, answered} = alone();
	begin();
	upstream.sendText('Segmentation fault');
	upstream.sendText('{}');
	upstream.sendText('[1]');
	upstream.sendText('{"method":"turn/completed"}');
	upstream.sendText('{"id":99,"result":{}}');
	t.is(answered(1), undefined);
	t.false(client.received.some(body => !('jsonrpc' in body)));
});
