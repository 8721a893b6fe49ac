import test from 'ava';
import {sharing} from './support.js';

test('two clients with the same ids each get their own answer, under their own id, byte for byte [A11]', t => {
	const {a, b, server, toldAll} = sharing(t, {}, {});
	a.sayText('{"jsonrpc":"2.0", "id":1.0, "method":"x","params":{"n":1e2}}');
	b.sayText('{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":2}}');
	const [first, second] = toldAll('x');
	t.not(first?.id, second?.id);
	t.is(
		server().receivedTexts.at(-2),
		`{"jsonrpc":"2.0", "id":${first?.id}, "method":"x","params":{"n":1e2}}`,
		'nothing but the id is another',
	);
	server().sendText(`{"jsonrpc":"2.0","id": ${second?.id} ,"result":{"n" : 2.0}}`);
	server().sendText(`{"jsonrpc":"2.0","id": ${first?.id} ,"result":{"n" : 1.0}}`);
	t.deepEqual(a.texts, ['{"jsonrpc":"2.0","id": 1.0 ,"result":{"n" : 1.0}}']);
	t.deepEqual(b.texts, ['{"jsonrpc":"2.0","id": 1 ,"result":{"n" : 2.0}}']);
});

test('progress tokens are told under names of their own, and come back as they were written [P4]', t => {
	const {a, b, server, toldAll} = sharing(t, {}, {});
	const params = '"params":{"_meta":{"progressToken": 1.0 },"a":1.0}';
	for (const guest of [a, b]) guest.sayText(`{"jsonrpc":"2.0","id":1,"method":"x",${params}}`);
	const [first, second] = toldAll('x').map(({params}) => (params as {_meta: {progressToken: string}})._meta);
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

test('a progress token whose name is written with escapes is renamed, too [P4]', t => {
	const {a, told} = sharing(t, {});
	a.sayText('{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progress\\u0054oken":"mine"}}}');
	t.notRegex(JSON.stringify(told('x')), /mine/);
});

test('progress that nobody waits for, or waits for any longer, is dropped [P4]', t => {
	const {a, server, told} = sharing(t, {});
	a.say({id: 1, method: 'x', params: {_meta: {progressToken: 'p'}}});
	const {id, params} = told('x');
	const {progressToken} = (params as {_meta: {progressToken: string}})._meta;
	const progress = (token: unknown): void =>
		server().send({method: 'notifications/progress', params: {progressToken: token, progress: 1}});
	progress('p');
	progress(undefined);
	server().send({id, result: {}});
	progress(progressToken);
	t.is(a.heard.length, 1);
});

test('a client can cancel its own requests, and nobody else’s', t => {
	const {a, b, told, toldAll, server} = sharing(t, {}, {});
	a.say({id: 1, method: 'x'});
	const {id} = told('x');
	b.say({method: 'notifications/cancelled', params: {requestId: 1}});
	b.say({method: 'notifications/cancelled', params: {requestId: id}});
	t.is(toldAll('notifications/cancelled').length, 0);
	a.say({method: 'notifications/cancelled', params: {requestId: 1, reason: 'enough'}});
	t.deepEqual(told('notifications/cancelled').params, {requestId: Number(id), reason: 'enough'});
	server().send({id, result: {}});
	t.like(a.heard, [{id: 1, result: {}}], 'an answer that comes all the same is still its own');
});

test('the server hears of the first who subscribes to a resource, and of the last who no longer wants it', t => {
	const {a, b, server, told, toldAll} = sharing(t, {}, {});
	const params = {uri: 'file:///x'};
	a.say({id: 1, method: 'resources/subscribe', params});
	b.say({id: 'b', method: 'resources/subscribe', params});
	t.deepEqual(b.heard, [], 'who comes second waits for the same answer');
	server().send({id: told('resources/subscribe').id, result: {}});
	t.like(a.heard, [{id: 1, result: {}}]);
	t.like(b.heard, [{id: 'b', result: {}}]);
	a.say({id: 2, method: 'resources/subscribe', params});
	t.like(a.heard[1], {id: 2, result: {}});
	t.is(toldAll('resources/subscribe').length, 1);
	a.say({id: 3, method: 'resources/unsubscribe', params});
	t.like(a.heard[2], {id: 3, result: {}});
	t.is(toldAll('resources/unsubscribe').length, 0);
	b.say({id: 4, method: 'resources/unsubscribe', params});
	server().send({id: told('resources/unsubscribe').id, result: {}});
	t.like(b.heard[1], {id: 4, result: {}});
	t.is(toldAll('resources/unsubscribe').length, 1);
});

test('all who wait for a subscription that the server refuses hear so, and the next is asked for again', t => {
	const {a, b, server, told, toldAll} = sharing(t, {}, {});
	const params = {uri: 'file:///x'};
	a.say({id: 1, method: 'resources/subscribe', params});
	b.say({id: 2, method: 'resources/subscribe', params});
	server().send({id: told('resources/subscribe').id, error: {code: -32_002, message: 'no'}});
	t.like(a.heard, [{id: 1, error: {code: -32_002}}]);
	t.like(b.heard, [{id: 2, error: {code: -32_002}}]);
	b.say({id: 3, method: 'resources/subscribe', params});
	t.is(toldAll('resources/subscribe').length, 2);
});

test('the server is told the level that lets through what anybody wants, and each hears its own', t => {
	const {a, b, server, told, toldAll} = sharing(t, {}, {});
	const hear = (level: string): void =>
		server().send({method: 'notifications/message', params: {level, data: 1}});
	const levels = ({heard}: typeof a) =>
		heard.flatMap(({params}) => (params as {level: string} | undefined)?.level ?? []);
	hear('debug');
	t.deepEqual(levels(a), ['debug'], 'as long as nobody has said what it wants, all is heard');
	a.say({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	t.like(
		told('logging/setLevel').params,
		{level: 'info'},
		'the other one has not said, and gets what is usual',
	);
	server().send({id: told('logging/setLevel').id, result: {}});
	b.say({id: 1, method: 'logging/setLevel', params: {level: 'debug'}});
	t.like(told('logging/setLevel').params, {level: 'debug'});
	server().send({id: told('logging/setLevel').id, result: {}});
	for (const level of ['debug', 'info', 'error', 'emergency', 'odd']) hear(level);
	t.deepEqual(levels(a), ['debug', 'error', 'emergency', 'odd']);
	t.deepEqual(levels(b), ['debug', 'debug', 'info', 'error', 'emergency', 'odd']);
	a.say({id: 2, method: 'logging/setLevel', params: {level: 'warning'}});
	t.like(a.heard.at(-1), {id: 2, result: {}});
	t.is(toldAll('logging/setLevel').length, 2, 'what changes nothing is not told');
});

test('who comes later and has not said what it wants gets what is usual', t => {
	const {a, server, told, join} = sharing(t, {});
	a.say({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	t.like(told('logging/setLevel').params, {level: 'error'});
	server().send({id: told('logging/setLevel').id, result: {}});
	const late = join();
	late.greet();
	t.like(told('logging/setLevel').params, {level: 'info'});
	late.say({id: 1, method: 'logging/setLevel', params: {level: 'debug'}});
	server().send({id: told('logging/setLevel').id, result: {}});
	void late.endpoint.close();
	t.like(told('logging/setLevel').params, {level: 'error'}, 'until it leaves');
});

test('a level that the server refuses is not wanted, and one that is none is for the server to refuse', t => {
	const {a, server, told, toldAll} = sharing(t, {});
	a.say({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	server().send({id: told('logging/setLevel').id, error: {code: -32_601, message: 'no'}});
	t.like(a.heard, [{id: 1, error: {code: -32_601}}]);
	server().send({method: 'notifications/message', params: {level: 'debug', data: 1}});
	t.is(a.heard.length, 2);
	a.say({id: 2, method: 'logging/setLevel', params: {level: 'loud'}});
	t.is(toldAll('logging/setLevel').length, 2);
});

test('when a client leaves, all that it had is given back', async t => {
	const {a, b, server, told, toldAll, logged} = sharing(t, {sampling: {}}, {});
	for (const uri of ['file:///x', 'file:///y']) {
		a.say({id: uri, method: 'resources/subscribe', params: {uri}});
		server().send({id: told('resources/subscribe').id, result: {}});
	}
	b.say({id: 1, method: 'resources/subscribe', params: {uri: 'file:///y'}});
	b.say({id: 2, method: 'logging/setLevel', params: {level: 'error'}});
	server().send({id: told('logging/setLevel').id, result: {}});
	a.say({id: 3, method: 'x'});
	const {id} = told('x');
	server().send({id: 'q', method: 'sampling/createMessage', params: {}});
	t.is(a.heard.at(-1)?.method, 'sampling/createMessage');
	await a.endpoint.close();
	t.like(told('notifications/cancelled').params, {requestId: Number(id)});
	t.true(
		server().received.some(body => body.id === 'q' && 'error' in body),
		'its question is refused',
	);
	t.deepEqual(
		toldAll('resources/unsubscribe').map(({params}) => params),
		[{uri: 'file:///x'}],
	);
	t.like(told('logging/setLevel').params, {level: 'error'}, 'only the other one’s level counts');
	server().send({id, result: {}});
	t.is((await logged('rpc.late_response')).length, 1);
	t.deepEqual(
		b.heard.map(({id}) => id),
		[1, 2],
	);
});

test('a task is its owner’s: nobody else sees it, cancels it or hears of it', t => {
	const {a, b, server, told, toldAll} = sharing(t, {}, {});
	a.say({id: 1, method: 'tools/call', params: {name: 'x', task: {}, _meta: {progressToken: 5}}});
	const {id, params} = told('tools/call');
	server().send({id, result: {task: {taskId: 'T', status: 'working'}}});
	b.say({id: 1, method: 'tasks/get', params: {taskId: 'T'}});
	t.like(b.heard, [{id: 1, error: {code: -32_602}}]);
	a.say({id: 2, method: 'tasks/get', params: {taskId: 'T'}});
	t.is(toldAll('tasks/get').length, 1);
	server().send({method: 'notifications/tasks/status', params: {taskId: 'T', status: 'completed'}});
	t.is(b.heard.length, 1);
	t.is(a.heard.at(-1)?.method, 'notifications/tasks/status');
	b.say({id: 2, method: 'tasks/list'});
	const tasks = [{taskId: 'T'}, {taskId: 'other'}];
	server().send({id: told('tasks/list').id, result: {tasks}});
	t.like(b.heard[1], {id: 2, result: {tasks: [{taskId: 'other'}]}});
	a.say({id: 3, method: 'tasks/list'});
	server().send({id: told('tasks/list').id, result: {tasks}});
	t.like(a.heard.at(-1), {id: 3, result: {tasks}});
	const {progressToken} = (params as {_meta: {progressToken: string}})._meta;
	server().send({method: 'notifications/progress', params: {progressToken, progress: 1}});
	t.like(a.heard.at(-1), {params: {progressToken: 5}}, 'its progress goes on after the first answer');
});
