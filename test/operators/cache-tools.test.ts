import test from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {caching, newCache, tool} from './cache-tools-support.js';

const echo = tool('echo');

test('Cache tools/list: asks for the list by itself, once the client has said that it is initialized', t => {
	const {lists, receivedMethods, client} = caching();
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized', 'tools/list']);
	t.regex(String(lists()[0]?.id), /^bridge-/);
	t.deepEqual(
		client.received.map(({id}) => id),
		['i'],
	);
});

test('asks a server without tools for none', t => {
	const {lists, ask, client} = caching({capabilities: {prompts: {}}});
	t.is(lists().length, 0);
	ask(1);
	t.is(lists().length, 1);
	t.is(client.received.length, 1);
});

test('keeps the answers to its own requests from the client', t => {
	const {give, client} = caching();
	give({tools: [echo]});
	t.deepEqual(
		client.received.map(({id, method}) => id ?? method),
		['i', 'notifications/tools/list_changed'],
	);
});

test('tools/list_changed notification: tells the client when the list is cached', t => {
	const {give, told} = caching();
	t.is(told(), 0);
	give({tools: [echo], nextCursor: 'b'});
	t.is(told(), 0);
	give({tools: [tool('add')]});
	t.is(told(), 1);
});

test('says to the client that it will hear of changes, whatever the server says', t => {
	const {client} = caching();
	t.like(client.received[0], {result: {capabilities: {tools: {listChanged: true}}}});
	const {client: other} = caching({capabilities: {prompts: {}}});
	t.deepEqual(objectOf(objectOf(other.received[0]?.result).capabilities), {prompts: {}});
});

test('Serve cached tools/list: answers under the id of the request, and the server is not asked', t => {
	const {give, ask, answer, lists, client} = caching();
	give({tools: [echo]});
	ask('a');
	ask(2);
	t.deepEqual(answer('a'), {jsonrpc: '2.0', id: 'a', result: {tools: [echo]}});
	t.deepEqual(answer(2), {jsonrpc: '2.0', id: 2, result: {tools: [echo]}});
	client.sendText('{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}');
	t.regex(client.receivedTexts.at(-1) ?? '', /"id":9007199254740993,/);
	t.is(lists().length, 1);
});

test('gives all pages as one, with all other members and numbers as the server wrote them', t => {
	const {upstream, lists, ask, client} = caching();
	const id = (): string => JSON.stringify(lists().at(-1)?.id);
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${id()},"result":{"tools":[{"name":"a","x":1.0}],"_meta":{"n":9007199254740993},"nextCursor":"2"}}`,
	);
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${id()},"result":{"tools":[{"name":"b","x":1e5}],"nextCursor":null}}`,
	);
	t.like(lists()[1], {params: {cursor: '2'}});
	ask(1);
	t.is(
		client.receivedTexts.at(-1),
		'{"jsonrpc":"2.0","id":1,"result":{"_meta":{"n":9007199254740993},"tools":[{"name":"a","x":1.0},{"name":"b","x":1e5}]}}',
	);
});

test('a request with a cursor is the server’s to answer [C11]', t => {
	const {give, ask, answer, lists, upstream} = caching();
	give({tools: [echo]});
	ask(1, {cursor: 'b'});
	t.like(lists().at(-1), {id: 1, params: {cursor: 'b'}});
	upstream.send({id: 1, result: {tools: [tool('second')]}});
	t.like(answer(1), {result: {tools: [{name: 'second'}]}});
	ask(2);
	t.like(answer(2), {result: {tools: [{name: 'echo'}]}});
});

test('a request that comes while the list is fetched waits for it, and the server is asked once', t => {
	const {give, ask, answer, lists} = caching();
	ask(1);
	ask(2);
	t.is(lists().length, 1);
	give({tools: [echo]});
	t.like(answer(1), {result: {tools: [{name: 'echo'}]}});
	t.like(answer(2), {result: {tools: [{name: 'echo'}]}});
	t.is(lists().length, 1);
});

test('of requests that wait only so many do; the server is asked for the others', t => {
	const {ask, lists} = caching();
	for (let id = 0; id <= 100; id++) ask(id);
	t.deepEqual(
		lists()
			.slice(1)
			.map(({id}) => id),
		[100],
	);
});

test('when there is no list, requests that waited are passed on, in order', async t => {
	const {cache, logged} = newCache();
	const {refuse, ask, answer, lists, upstream} = caching({cache});
	ask(1);
	ask(2);
	refuse();
	t.deepEqual(
		lists()
			.slice(1)
			.map(({id}) => id),
		[1, 2],
	);
	upstream.send({id: 1, error: {code: -32603, message: 'no database'}});
	t.like(answer(1), {error: {message: 'no database'}});
	t.is((await logged('tools.uncached')).length, 1);
});

test('a server that could not list its tools is asked again with the next request, which does not wait for it', t => {
	const {refuse, give, ask, answer, lists, upstream, told} = caching();
	refuse();
	t.is(told(), 0);
	ask(1);
	const [own, passedOn] = lists().slice(1);
	t.is(passedOn?.id, 1);
	upstream.send({id: 1, result: {tools: [echo]}});
	t.like(answer(1), {result: {tools: [{name: 'echo'}]}});
	upstream.send({id: own?.id, result: {tools: [echo]}});
	t.is(told(), 1);
	ask(2);
	t.like(answer(2), {result: {tools: [{name: 'echo'}]}});
	t.is(lists().length, 3);
	t.notThrows(() => give({tools: []}));
});

for (const [what, pages] of [
	['whose second page is an error', [{tools: [echo], nextCursor: 'b'}, undefined]],
	[
		'that gives the same cursor twice',
		[
			{tools: [echo], nextCursor: 'b'},
			{tools: [], nextCursor: 'b'},
		],
	],
	['without an array of tools', [{tools: 'none'}]],
	['that is no result', [{}]],
	['that asks for input first', [{tools: [], resultType: 'input_required'}]],
	['with a cursor that is no text', [{tools: [echo], nextCursor: 7}]],
] as const)
	test(`all pages or none: a list ${what} is not kept [C11]`, async t => {
		const {cache, logged} = newCache();
		const {give, refuse, ask, lists, told} = caching({cache});
		for (const page of pages) {
			if (page) give(page);
			else refuse();
		}
		ask('a');
		t.is(lists().at(-1)?.id, 'a');
		t.is(told(), 0);
		t.is((await logged('tools.uncached')).length, 1);
	});

test('a list without end is given up', async t => {
	const {cache, logged} = newCache();
	const {give, lists} = caching({cache});
	for (let page = 1; page <= 1000; page++) give({tools: [], nextCursor: String(page)});
	t.is(lists().length, 1000);
	const [entry] = await logged('tools.uncached');
	t.regex(entry?.msg ?? '', /more than 1000 pages/);
});

test('a list over the limit is not kept: that is told once, and everything passes', async t => {
	const {cache, logged} = newCache({maxBytes: 200});
	const {give, ask, lists, change, told, upstream} = caching({cache});
	give({tools: [tool('x'.repeat(200))]});
	ask(1);
	t.is(lists().at(-1)?.id, 1);
	upstream.send({id: 1, result: {tools: []}});
	change();
	t.is(told(), 1);
	ask(2);
	t.is(lists().length, 3);
	t.is((await logged('tools.too_large')).length, 1);
});

test('a message that has nothing to do with tools passes as the bytes that it is', t => {
	const {client, upstream} = caching();
	const call = '{ "jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n":1.0}}';
	client.sendText(call);
	t.is(upstream.receivedTexts.at(-1), call);
	const result = '{ "jsonrpc":"2.0","id":1,"result":{"content":[],"n":1.0}}';
	upstream.sendText(result);
	t.is(client.receivedTexts.at(-1), result);
});
