import test from 'ava';
import {shareWithClients} from './support.js';

test('returns each response under the id that its client chose, byte for byte [A11]', t => {
	const {a, b, server, allReceived} = shareWithClients(t, {}, {});
	a.sendText('{"jsonrpc":"2.0", "id":1.0, "method":"x","params":{"n":1e2}}');
	b.sendText('{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":2}}');
	const [first, second] = allReceived('x');
	t.not(first?.id, second?.id);
	t.is(
		server().receivedTexts.at(-2),
		`{"jsonrpc":"2.0", "id":${first?.id}, "method":"x","params":{"n":1e2}}`,
		'only the id differs',
	);
	server().sendText(`{"jsonrpc":"2.0","id": ${second?.id} ,"result":{"n" : 2.0}}`);
	server().sendText(`{"jsonrpc":"2.0","id": ${first?.id} ,"result":{"n" : 1.0}}`);
	t.deepEqual(a.texts, ['{"jsonrpc":"2.0","id": 1.0 ,"result":{"n" : 1.0}}']);
	t.deepEqual(b.texts, ['{"jsonrpc":"2.0","id": 1 ,"result":{"n" : 2.0}}']);
});

test('renames progress tokens for the upstream and restores their original bytes [P4]', t => {
	const {a, b, server, allReceived} = shareWithClients(t, {}, {});
	const params = '"params":{"_meta":{"progressToken": 1.0 },"a":1.0}';
	for (const client of [a, b]) client.sendText(`{"jsonrpc":"2.0","id":1,"method":"x",${params}}`);
	const [first, second] = allReceived('x').map(
		({params}) => (params as {_meta: {progressToken: string}})._meta,
	);
	t.not(first?.progressToken, second?.progressToken);
	t.true(server().receivedTexts.at(-1)?.endsWith(' },"a":1.0}}'), 'nothing else is changed');
	server().sendText(
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.50,"progressToken":"${second?.progressToken}"}}`,
	);
	t.deepEqual(a.texts, []);
	t.deepEqual(b.texts, [
		'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.50,"progressToken":1.0}}',
	]);
});

test('renames a progress token whose key is written with escapes [P4]', t => {
	const {a, lastReceived} = shareWithClients(t, {});
	a.sendText('{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progress\\u0054oken":"mine"}}}');
	t.notRegex(JSON.stringify(lastReceived('x')), /mine/);
});

test('drops progress with an unknown or released token [P4]', t => {
	const {a, server, lastReceived} = shareWithClients(t, {});
	a.send({id: 1, method: 'x', params: {_meta: {progressToken: 'p'}}});
	const {id, params} = lastReceived('x');
	const {progressToken} = (params as {_meta: {progressToken: string}})._meta;
	const progress = (token: unknown): void =>
		server().send({method: 'notifications/progress', params: {progressToken: token, progress: 1}});
	progress('p');
	progress(undefined);
	server().send({id, result: {}});
	progress(progressToken);
	t.is(a.received.length, 1);
});

test('lets a client cancel only its own requests', t => {
	const {a, b, lastReceived, allReceived, server} = shareWithClients(t, {}, {});
	a.send({id: 1, method: 'x'});
	const {id} = lastReceived('x');
	b.send({method: 'notifications/cancelled', params: {requestId: 1}});
	b.send({method: 'notifications/cancelled', params: {requestId: id}});
	t.is(allReceived('notifications/cancelled').length, 0);
	a.send({method: 'notifications/cancelled', params: {requestId: 1, reason: 'enough'}});
	t.deepEqual(lastReceived('notifications/cancelled').params, {requestId: Number(id), reason: 'enough'});
	server().send({id, result: {}});
	t.like(a.received, [{id: 1, result: {}}], 'a late response is still forwarded to its client');
});

test('sends the upstream only the first subscribe and the last unsubscribe of a resource', t => {
	const {a, b, server, lastReceived, allReceived} = shareWithClients(t, {}, {});
	const params = {uri: 'file:///x'};
	a.send({id: 1, method: 'resources/subscribe', params});
	b.send({id: 'b', method: 'resources/subscribe', params});
	t.deepEqual(b.received, [], 'the second client waits for the same response');
	server().send({id: lastReceived('resources/subscribe').id, result: {}});
	t.like(a.received, [{id: 1, result: {}}]);
	t.like(b.received, [{id: 'b', result: {}}]);
	a.send({id: 2, method: 'resources/subscribe', params});
	t.like(a.received[1], {id: 2, result: {}});
	t.is(allReceived('resources/subscribe').length, 1);
	a.send({id: 3, method: 'resources/unsubscribe', params});
	t.like(a.received[2], {id: 3, result: {}});
	t.is(allReceived('resources/unsubscribe').length, 0);
	b.send({id: 4, method: 'resources/unsubscribe', params});
	server().send({id: lastReceived('resources/unsubscribe').id, result: {}});
	t.like(b.received[1], {id: 4, result: {}});
	t.is(allReceived('resources/unsubscribe').length, 1);
});

test('forwards a rejected subscription to all waiting clients, and sends the next one again', t => {
	const {a, b, server, lastReceived, allReceived} = shareWithClients(t, {}, {});
	const params = {uri: 'file:///x'};
	a.send({id: 1, method: 'resources/subscribe', params});
	b.send({id: 2, method: 'resources/subscribe', params});
	server().send({id: lastReceived('resources/subscribe').id, error: {code: -32_002, message: 'no'}});
	t.like(a.received, [{id: 1, error: {code: -32_002}}]);
	t.like(b.received, [{id: 2, error: {code: -32_002}}]);
	b.send({id: 3, method: 'resources/subscribe', params});
	t.is(allReceived('resources/subscribe').length, 2);
});

test('sends the upstream the most verbose log level and filters log messages for each client', t => {
	const {a, b, server, lastReceived, allReceived} = shareWithClients(t, {}, {});
	const log = (level: string): void =>
		server().send({method: 'notifications/message', params: {level, data: 1}});
	const levels = ({received}: typeof a) =>
		received.flatMap(({params}) => (params as {level: string} | undefined)?.level ?? []);
	log('debug');
	t.deepEqual(levels(a), ['debug'], 'all messages are forwarded until a client sets a level');
	a.send({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	t.like(
		lastReceived('logging/setLevel').params,
		{level: 'info'},
		'the other client has set no level and gets the default',
	);
	server().send({id: lastReceived('logging/setLevel').id, result: {}});
	b.send({id: 1, method: 'logging/setLevel', params: {level: 'debug'}});
	t.like(lastReceived('logging/setLevel').params, {level: 'debug'});
	server().send({id: lastReceived('logging/setLevel').id, result: {}});
	for (const level of ['debug', 'info', 'error', 'emergency', 'odd']) log(level);
	t.deepEqual(levels(a), ['debug', 'error', 'emergency', 'odd']);
	t.deepEqual(levels(b), ['debug', 'debug', 'info', 'error', 'emergency', 'odd']);
	a.send({id: 2, method: 'logging/setLevel', params: {level: 'warning'}});
	t.like(a.received.at(-1), {id: 2, result: {}});
	t.is(allReceived('logging/setLevel').length, 2, 'an unchanged level is not sent');
});

test('applies the default log level to a client that attaches later', t => {
	const {a, server, lastReceived, join} = shareWithClients(t, {});
	a.send({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	t.like(lastReceived('logging/setLevel').params, {level: 'error'});
	server().send({id: lastReceived('logging/setLevel').id, result: {}});
	const late = join();
	late.initialize();
	t.like(lastReceived('logging/setLevel').params, {level: 'info'});
	late.send({id: 1, method: 'logging/setLevel', params: {level: 'debug'}});
	server().send({id: lastReceived('logging/setLevel').id, result: {}});
	void late.endpoint.close();
	t.like(lastReceived('logging/setLevel').params, {level: 'error'}, 'after it has disconnected');
});

test('ignores a log level that the upstream rejects, and forwards an unknown level', t => {
	const {a, server, lastReceived, allReceived} = shareWithClients(t, {});
	a.send({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	server().send({id: lastReceived('logging/setLevel').id, error: {code: -32_601, message: 'no'}});
	t.like(a.received, [{id: 1, error: {code: -32_601}}]);
	server().send({method: 'notifications/message', params: {level: 'debug', data: 1}});
	t.is(a.received.length, 2);
	a.send({id: 2, method: 'logging/setLevel', params: {level: 'loud'}});
	t.is(allReceived('logging/setLevel').length, 2);
});

test('releases the requests, the subscriptions and the log level of a client that disconnects', async t => {
	const {a, b, server, lastReceived, allReceived, logged} = shareWithClients(t, {sampling: {}}, {});
	for (const uri of ['file:///x', 'file:///y']) {
		a.send({id: uri, method: 'resources/subscribe', params: {uri}});
		server().send({id: lastReceived('resources/subscribe').id, result: {}});
	}
	b.send({id: 1, method: 'resources/subscribe', params: {uri: 'file:///y'}});
	b.send({id: 2, method: 'logging/setLevel', params: {level: 'error'}});
	server().send({id: lastReceived('logging/setLevel').id, result: {}});
	a.send({id: 3, method: 'x'});
	const {id} = lastReceived('x');
	server().send({id: 'q', method: 'sampling/createMessage', params: {}});
	t.is(a.received.at(-1)?.method, 'sampling/createMessage');
	await a.endpoint.close();
	t.like(lastReceived('notifications/cancelled').params, {requestId: Number(id)});
	t.true(
		server().received.some(body => body.id === 'q' && 'error' in body),
		'its server request is rejected',
	);
	t.deepEqual(
		allReceived('resources/unsubscribe').map(({params}) => params),
		[{uri: 'file:///x'}],
	);
	t.like(
		lastReceived('logging/setLevel').params,
		{level: 'error'},
		'only the level of the other client counts',
	);
	server().send({id, result: {}});
	t.is((await logged('rpc.late_response')).length, 1);
	t.deepEqual(
		b.received.map(({id}) => id),
		[1, 2],
	);
});

test('hides a task and its notifications from all clients but its owner', t => {
	const {a, b, server, lastReceived, allReceived} = shareWithClients(t, {}, {});
	a.send({id: 1, method: 'tools/call', params: {name: 'x', task: {}, _meta: {progressToken: 5}}});
	const {id, params} = lastReceived('tools/call');
	server().send({id, result: {task: {taskId: 'T', status: 'working'}}});
	b.send({id: 1, method: 'tasks/get', params: {taskId: 'T'}});
	t.like(b.received, [{id: 1, error: {code: -32_602}}]);
	a.send({id: 2, method: 'tasks/get', params: {taskId: 'T'}});
	t.is(allReceived('tasks/get').length, 1);
	server().send({method: 'notifications/tasks/status', params: {taskId: 'T', status: 'completed'}});
	t.is(b.received.length, 1);
	t.is(a.received.at(-1)?.method, 'notifications/tasks/status');
	b.send({id: 2, method: 'tasks/list'});
	const tasks = [{taskId: 'T'}, {taskId: 'other'}];
	server().send({id: lastReceived('tasks/list').id, result: {tasks}});
	t.like(b.received[1], {id: 2, result: {tasks: [{taskId: 'other'}]}});
	a.send({id: 3, method: 'tasks/list'});
	server().send({id: lastReceived('tasks/list').id, result: {tasks}});
	t.like(a.received.at(-1), {id: 3, result: {tasks}});
	const {progressToken} = (params as {_meta: {progressToken: string}})._meta;
	server().send({method: 'notifications/progress', params: {progressToken, progress: 1}});
	t.like(a.received.at(-1), {params: {progressToken: 5}}, 'its progress continues after the first response');
});
