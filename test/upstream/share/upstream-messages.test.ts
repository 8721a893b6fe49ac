import test from 'ava';
import {sharing} from './support.js';

const SAMPLING = {method: 'sampling/createMessage', params: {messages: []}};

test('a question reaches the client of the latest call that can answer it, and its answer goes back [D16]', async t => {
	const {a, b, c, server, logged} = sharing(t, {sampling: {}}, {sampling: {}}, {});
	a.say({id: 1, method: 'x'});
	b.say({id: 1, method: 'x'});
	c.say({id: 1, method: 'x'});
	server().sendText('{"jsonrpc":"2.0","id":7.0,"method":"sampling/createMessage","params":{}}');
	t.deepEqual([a.heard, c.heard], [[], []]);
	t.like(b.heard, [{method: 'sampling/createMessage'}]);
	b.sayText(`{"jsonrpc":"2.0","id":${b.heard[0]?.id},"result":{"model":"m", "n":1.0}}`);
	t.is(server().receivedTexts.at(-1), '{"jsonrpc":"2.0","id":7.0,"result":{"model":"m", "n":1.0}}');
	t.is((await logged('shared.question.ambiguous')).length, 1);
});

test('only the client that was asked can answer, and only once [D16]', async t => {
	const {a, b, server, logged} = sharing(t, {sampling: {}}, {sampling: {}});
	a.say({id: 1, method: 'x'});
	server().send({id: 'q', ...SAMPLING});
	const {id} = a.heard[0] ?? {};
	const before = server().received.length;
	b.say({id, result: {forged: true}});
	t.is(server().received.length, before);
	a.say({id, result: {}});
	a.say({id, result: {}});
	t.deepEqual(server().received.slice(before), [{jsonrpc: '2.0', id: 'q', result: {}}]);
	t.is((await logged('rpc.orphan_response')).length, 2);
});

test('without a call of anybody who can answer, a question is refused [D16]', t => {
	const {a, b, server} = sharing(t, {roots: {}}, {});
	const answers = (): unknown[] =>
		server().received.filter(({id}) => typeof id === 'string' && id.startsWith('q'));
	server().send({id: 'q1', method: 'roots/list'});
	b.say({id: 1, method: 'x'});
	server().send({id: 'q2', method: 'roots/list'});
	server().send({id: 'q3', ...SAMPLING});
	server().send({id: 'q4', method: 'elicitation/create', params: {}});
	t.deepEqual([a.heard, b.heard], [[], []]);
	t.like(answers(), [
		{id: 'q1', error: {code: -32_601}},
		{id: 'q2', error: {code: -32_601}},
		{id: 'q3', error: {code: -32_601}},
		{id: 'q4', result: {action: 'cancel'}},
	]);
});

test('a call that is answered or cancelled is nobody to ask [D16]', t => {
	const {a, b, server, told} = sharing(t, {roots: {}}, {roots: {}});
	a.say({id: 1, method: 'first'});
	b.say({id: 1, method: 'second'});
	b.say({id: 2, method: 'third'});
	server().send({id: told('second').id, result: {}});
	b.say({method: 'notifications/cancelled', params: {requestId: 2}});
	server().send({id: 'q', method: 'roots/list'});
	t.is(a.heard[0]?.method, 'roots/list');
});

test('who only asks for a list, or whether the server is there, is not asked while another one’s call is under way [D16]', t => {
	const {a, b, server, told} = sharing(t, {roots: {}}, {roots: {}});
	a.say({id: 1, method: 'tools/call', params: {}});
	b.say({id: 1, method: 'ping'});
	b.say({id: 2, method: 'tools/list'});
	server().send({id: 'q1', method: 'roots/list'});
	t.is(a.heard[0]?.method, 'roots/list');
	server().send({id: told('tools/call').id, result: {}});
	server().send({id: 'q2', method: 'roots/list'});
	t.is(b.heard[0]?.method, 'roots/list', 'without any call, the list may be what it asks for');
});

test('a question about a task is for who owns it [D16]', t => {
	const {a, b, server, told} = sharing(t, {elicitation: {}}, {elicitation: {}});
	a.say({id: 1, method: 'tools/call', params: {task: {}}});
	server().send({id: told('tools/call').id, result: {task: {taskId: 'T'}}});
	b.say({id: 1, method: 'x'});
	const _meta = {'io.modelcontextprotocol/related-task': {taskId: 'T'}};
	server().send({id: 'q', method: 'elicitation/create', params: {_meta}});
	t.is(a.heard.at(-1)?.method, 'elicitation/create');
	t.deepEqual(b.heard, []);
});

test('a question that the server withdraws is withdrawn from who was asked', t => {
	const {a, b, server} = sharing(t, {sampling: {}}, {});
	a.say({id: 1, method: 'x'});
	server().send({id: 'q', ...SAMPLING});
	server().send({method: 'notifications/cancelled', params: {requestId: 'other'}});
	server().send({method: 'notifications/cancelled', params: {requestId: 'q', reason: 'enough'}});
	const [question, cancelled, ...rest] = a.heard;
	t.like(cancelled, {params: {requestId: question?.id, reason: 'enough'}});
	t.deepEqual([rest, b.heard], [[], []]);
});

test('a question dies with the server, and its late answer is not for the next one', t => {
	const {a, server} = sharing(t, {sampling: {}});
	a.say({id: 1, method: 'x'});
	server().send({id: 'q', ...SAMPLING});
	server().end();
	t.like(
		a.heard.map(({method, error}) => method ?? (error as {code: number}).code),
		['sampling/createMessage', -31_004, 'notifications/cancelled'],
	);
});

test('who is asked may tell of its progress, and nobody else', t => {
	const {a, b, server, toldAll} = sharing(t, {sampling: {}}, {});
	a.say({id: 1, method: 'x'});
	server().send({id: 'q', method: 'sampling/createMessage', params: {_meta: {progressToken: 3}}});
	const progress = {method: 'notifications/progress', params: {progressToken: 3, progress: 1}};
	b.say(progress);
	t.is(toldAll('notifications/progress').length, 0);
	a.say(progress);
	t.is(toldAll('notifications/progress').length, 1);
});

test('a ping of the server is answered at once', t => {
	const {a, server} = sharing(t, {});
	server().sendText('{"jsonrpc":"2.0","id":1e0,"method":"ping"}');
	t.is(server().receivedTexts.at(-1), '{"jsonrpc":"2.0","id":1e0,"result":{}}');
	t.deepEqual(a.heard, []);
});

test('an answer that nobody waits for reaches nobody [A12]', async t => {
	const {a, b, server, told, logged} = sharing(t, {}, {});
	a.say({id: 1, method: 'x'});
	const {id} = told('x');
	server().send({id, result: {}});
	server().send({id, result: {again: true}});
	server().send({id: 99, result: {}});
	server().send({id: 'x', result: {}});
	server().sendText('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}');
	t.is(a.heard.length, 1);
	t.is(b.heard.length, 0);
	t.is((await logged('rpc.orphan_response')).length, 4);
});

test('changes of lists, and what nobody knows, are told to all who have shaken hands', t => {
	const {a, b, server, join} = sharing(t, {}, {});
	const early = join();
	early.say({id: 1, method: 'initialize', params: {}});
	const text = '{"jsonrpc":"2.0", "method":"notifications/tools/list_changed"}';
	server().sendText(text);
	server().send({method: 'notifications/odd'});
	for (const guest of [a, b]) {
		t.is(guest.texts[0], text);
		t.is(guest.heard[1]?.method, 'notifications/odd');
	}
	t.is(early.heard.length, 1, 'one that has not hears its answer alone');
});

test('a resource that was updated is told to those who subscribed to it, or to what it is a part of', t => {
	const {a, b, server, told} = sharing(t, {}, {}, {});
	const subscribe = (guest: typeof a, uri: string): void => {
		guest.say({id: uri, method: 'resources/subscribe', params: {uri}});
		server().send({id: told('resources/subscribe').id, result: {}});
		guest.heard.pop();
	};
	subscribe(a, 'file:///dir/');
	subscribe(b, 'file:///dir/x');
	const update = (uri: string): void =>
		server().send({method: 'notifications/resources/updated', params: {uri}});
	update('file:///dir/x');
	t.deepEqual([a.heard.length, b.heard.length], [0, 1]);
	update('file:///dir/y');
	t.deepEqual([a.heard.length, b.heard.length], [1, 1]);
	update('file:///other');
	t.deepEqual([a.heard.length, b.heard.length], [1, 1]);
});

test('that a page was dealt with is told to who was sent there, and to all where that is not known', t => {
	const {a, b, server, told} = sharing(t, {elicitation: {url: {}}}, {});
	a.say({id: 1, method: 'x'});
	const params = {mode: 'url', url: 'https://example.com', elicitationId: 'E', message: ''};
	server().send({id: 'q', method: 'elicitation/create', params});
	b.say({id: 1, method: 'y'});
	const data = {elicitations: [{mode: 'url', elicitationId: 'F'}]};
	server().send({id: told('y').id, error: {code: -32_042, message: 'open', data}});
	const complete = (elicitationId: string): void =>
		server().send({method: 'notifications/elicitation/complete', params: {elicitationId}});
	const completed = ({heard}: typeof a): unknown[] =>
		heard.filter(({method}) => method === 'notifications/elicitation/complete').map(({params}) => params);
	for (const id of ['E', 'F', 'G']) complete(id);
	t.deepEqual(completed(a), [{elicitationId: 'E'}, {elicitationId: 'G'}]);
	t.deepEqual(completed(b), [{elicitationId: 'F'}, {elicitationId: 'G'}]);
});

test('what is no message of the server ends nobody’s conversation', async t => {
	const {a, server, told, logged} = sharing(t, {});
	a.say({id: 1, method: 'x'});
	server().sendText('Listening on stdio');
	server().sendText('[]');
	server().send({id: told('x').id, result: {}});
	t.like(a.heard, [{id: 1, result: {}}]);
	t.is((await logged('child.stdout.garbage')).length, 1);
});
