import test from 'ava';
import {shareWithClients} from './support.js';

const SAMPLING = {method: 'sampling/createMessage', params: {messages: []}};

test('sends a server request to the client of the latest call that supports it, and returns the response [D16]', async t => {
	const {a, b, c, server, logged} = shareWithClients(t, {sampling: {}}, {sampling: {}}, {});
	a.send({id: 1, method: 'x'});
	b.send({id: 1, method: 'x'});
	c.send({id: 1, method: 'x'});
	server().sendText('{"jsonrpc":"2.0","id":7.0,"method":"sampling/createMessage","params":{}}');
	t.deepEqual([a.received, c.received], [[], []]);
	t.like(b.received, [{method: 'sampling/createMessage'}]);
	b.sendText(`{"jsonrpc":"2.0","id":${b.received[0]?.id},"result":{"model":"m", "n":1.0}}`);
	t.is(server().receivedTexts.at(-1), '{"jsonrpc":"2.0","id":7.0,"result":{"model":"m", "n":1.0}}');
	t.is((await logged('shared.question.ambiguous')).length, 1);
});

test('accepts one response to a server request, only from the client that got it [D16]', async t => {
	const {a, b, server, logged} = shareWithClients(t, {sampling: {}}, {sampling: {}});
	a.send({id: 1, method: 'x'});
	server().send({id: 'q', ...SAMPLING});
	const {id} = a.received[0] ?? {};
	const before = server().received.length;
	b.send({id, result: {forged: true}});
	t.is(server().received.length, before);
	a.send({id, result: {}});
	a.send({id, result: {}});
	t.deepEqual(server().received.slice(before), [{jsonrpc: '2.0', id: 'q', result: {}}]);
	t.is((await logged('rpc.orphan_response')).length, 2);
});

test('rejects a server request if no client with a pending call supports it [D16]', t => {
	const {a, b, server} = shareWithClients(t, {roots: {}}, {});
	const responses = (): unknown[] =>
		server().received.filter(({id}) => typeof id === 'string' && id.startsWith('q'));
	server().send({id: 'q1', method: 'roots/list'});
	b.send({id: 1, method: 'x'});
	server().send({id: 'q2', method: 'roots/list'});
	server().send({id: 'q3', ...SAMPLING});
	server().send({id: 'q4', method: 'elicitation/create', params: {}});
	t.deepEqual([a.received, b.received], [[], []]);
	t.like(responses(), [
		{id: 'q1', error: {code: -32_601}},
		{id: 'q2', error: {code: -32_601}},
		{id: 'q3', error: {code: -32_601}},
		{id: 'q4', result: {action: 'cancel'}},
	]);
});

test('does not send a server request to the client of a completed or cancelled call [D16]', t => {
	const {a, b, server, lastReceived} = shareWithClients(t, {roots: {}}, {roots: {}});
	a.send({id: 1, method: 'first'});
	b.send({id: 1, method: 'second'});
	b.send({id: 2, method: 'third'});
	server().send({id: lastReceived('second').id, result: {}});
	b.send({method: 'notifications/cancelled', params: {requestId: 2}});
	server().send({id: 'q', method: 'roots/list'});
	t.is(a.received[0]?.method, 'roots/list');
});

test('prefers a client with a pending call to one with a pending list or ping [D16]', t => {
	const {a, b, server, lastReceived} = shareWithClients(t, {roots: {}}, {roots: {}});
	a.send({id: 1, method: 'tools/call', params: {}});
	b.send({id: 1, method: 'ping'});
	b.send({id: 2, method: 'tools/list'});
	server().send({id: 'q1', method: 'roots/list'});
	t.is(a.received[0]?.method, 'roots/list');
	server().send({id: lastReceived('tools/call').id, result: {}});
	server().send({id: 'q2', method: 'roots/list'});
	t.is(b.received[0]?.method, 'roots/list', 'without a call, the list may have caused the request');
});

test('sends a server request about a task to the owner [D16]', t => {
	const {a, b, server, lastReceived} = shareWithClients(t, {elicitation: {}}, {elicitation: {}});
	a.send({id: 1, method: 'tools/call', params: {task: {}}});
	server().send({id: lastReceived('tools/call').id, result: {task: {taskId: 'T'}}});
	b.send({id: 1, method: 'x'});
	const _meta = {'io.modelcontextprotocol/related-task': {taskId: 'T'}};
	server().send({id: 'q', method: 'elicitation/create', params: {_meta}});
	t.is(a.received.at(-1)?.method, 'elicitation/create');
	t.deepEqual(b.received, []);
});

test('forwards the cancellation of a server request to its client', t => {
	const {a, b, server} = shareWithClients(t, {sampling: {}}, {});
	a.send({id: 1, method: 'x'});
	server().send({id: 'q', ...SAMPLING});
	server().send({method: 'notifications/cancelled', params: {requestId: 'other'}});
	server().send({method: 'notifications/cancelled', params: {requestId: 'q', reason: 'enough'}});
	const [serverRequest, cancelled, ...rest] = a.received;
	t.like(cancelled, {params: {requestId: serverRequest?.id, reason: 'enough'}});
	t.deepEqual([rest, b.received], [[], []]);
});

test('cancels the pending server requests when the upstream disconnects', t => {
	const {a, server} = shareWithClients(t, {sampling: {}});
	a.send({id: 1, method: 'x'});
	server().send({id: 'q', ...SAMPLING});
	server().end();
	t.like(
		a.received.map(({method, error}) => method ?? (error as {code: number}).code),
		['sampling/createMessage', -31_004, 'notifications/cancelled'],
	);
});

test('forwards the progress of a server request only from its client', t => {
	const {a, b, server, allReceived} = shareWithClients(t, {sampling: {}}, {});
	a.send({id: 1, method: 'x'});
	server().send({id: 'q', method: 'sampling/createMessage', params: {_meta: {progressToken: 3}}});
	const progress = {method: 'notifications/progress', params: {progressToken: 3, progress: 1}};
	b.send(progress);
	t.is(allReceived('notifications/progress').length, 0);
	a.send(progress);
	t.is(allReceived('notifications/progress').length, 1);
});

test('responds to a ping of the upstream at once', t => {
	const {a, server} = shareWithClients(t, {});
	server().sendText('{"jsonrpc":"2.0","id":1e0,"method":"ping"}');
	t.is(server().receivedTexts.at(-1), '{"jsonrpc":"2.0","id":1e0,"result":{}}');
	t.deepEqual(a.received, []);
});

test('drops a response without a pending request [A12]', async t => {
	const {a, b, server, lastReceived, logged} = shareWithClients(t, {}, {});
	a.send({id: 1, method: 'x'});
	const {id} = lastReceived('x');
	server().send({id, result: {}});
	server().send({id, result: {again: true}});
	server().send({id: 99, result: {}});
	server().send({id: 'x', result: {}});
	server().sendText('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}');
	t.is(a.received.length, 1);
	t.is(b.received.length, 0);
	t.is((await logged('rpc.orphan_response')).length, 4);
});

test('broadcasts list changes and unknown notifications to initialized clients', t => {
	const {a, b, server, join} = shareWithClients(t, {}, {});
	const early = join();
	early.send({id: 1, method: 'initialize', params: {}});
	const text = '{"jsonrpc":"2.0", "method":"notifications/tools/list_changed"}';
	server().sendText(text);
	server().send({method: 'notifications/odd'});
	for (const client of [a, b]) {
		t.is(client.texts[0], text);
		t.is(client.received[1]?.method, 'notifications/odd');
	}
	t.is(early.received.length, 1, 'a client that is not initialized gets only its response');
});

test('sends a resource update to the subscribers of the resource or of a parent', t => {
	const {a, b, server, lastReceived} = shareWithClients(t, {}, {}, {});
	const subscribe = (client: typeof a, uri: string): void => {
		client.send({id: uri, method: 'resources/subscribe', params: {uri}});
		server().send({id: lastReceived('resources/subscribe').id, result: {}});
		client.received.pop();
	};
	subscribe(a, 'file:///dir/');
	subscribe(b, 'file:///dir/x');
	const update = (uri: string): void =>
		server().send({method: 'notifications/resources/updated', params: {uri}});
	update('file:///dir/x');
	t.deepEqual([a.received.length, b.received.length], [0, 1]);
	update('file:///dir/y');
	t.deepEqual([a.received.length, b.received.length], [1, 1]);
	update('file:///other');
	t.deepEqual([a.received.length, b.received.length], [1, 1]);
});

test('sends a completed elicitation to its owner, or to all clients if the owner is unknown', t => {
	const {a, b, server, lastReceived} = shareWithClients(t, {elicitation: {url: {}}}, {});
	a.send({id: 1, method: 'x'});
	const params = {mode: 'url', url: 'https://example.com', elicitationId: 'E', message: ''};
	server().send({id: 'q', method: 'elicitation/create', params});
	b.send({id: 1, method: 'y'});
	const data = {elicitations: [{mode: 'url', elicitationId: 'F'}]};
	server().send({id: lastReceived('y').id, error: {code: -32_042, message: 'open', data}});
	const complete = (elicitationId: string): void =>
		server().send({method: 'notifications/elicitation/complete', params: {elicitationId}});
	const completed = ({received}: typeof a): unknown[] =>
		received.filter(({method}) => method === 'notifications/elicitation/complete').map(({params}) => params);
	for (const id of ['E', 'F', 'G']) complete(id);
	t.deepEqual(completed(a), [{elicitationId: 'E'}, {elicitationId: 'G'}]);
	t.deepEqual(completed(b), [{elicitationId: 'F'}, {elicitationId: 'G'}]);
});

test('keeps all conversations when the upstream sends invalid messages', async t => {
	const {a, server, lastReceived, logged} = shareWithClients(t, {});
	a.send({id: 1, method: 'x'});
	server().sendText('Listening on stdio');
	server().sendText('[]');
	server().send({id: lastReceived('x').id, result: {}});
	t.like(a.received, [{id: 1, result: {}}]);
	t.is((await logged('child.stdout.garbage')).length, 1);
});
