import test from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {connect, newCache, tool} from './cache-tools-support.js';

const echo = tool('echo');

test('fetches the list after notifications/initialized', t => {
	const {listRequests, receivedMethods, client} = connect();
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized', 'tools/list']);
	t.regex(String(listRequests()[0]?.id), /^bridge-/);
	t.deepEqual(
		client.received.map(({id}) => id),
		['i'],
	);
});

test('does not fetch from an upstream without tools', t => {
	const {listRequests, request, client} = connect({capabilities: {prompts: {}}});
	t.is(listRequests().length, 0);
	request(1);
	t.is(listRequests().length, 1);
	t.is(client.received.length, 1);
});

test('does not forward responses to its own requests', t => {
	const {respond, client} = connect();
	respond({tools: [echo]});
	t.deepEqual(
		client.received.map(({id, method}) => id ?? method),
		['i', 'notifications/tools/list_changed'],
	);
});

test('sends list_changed to the client when the list is cached', t => {
	const {respond, notifications} = connect();
	t.is(notifications(), 0);
	respond({tools: [echo], nextCursor: 'b'});
	t.is(notifications(), 0);
	respond({tools: [tool('add')]});
	t.is(notifications(), 1);
});

test('declares listChanged to the client, whatever the upstream declares', t => {
	const {client} = connect();
	t.like(client.received[0], {result: {capabilities: {tools: {listChanged: true}}}});
	const {client: other} = connect({capabilities: {prompts: {}}});
	t.deepEqual(objectOf(objectOf(other.received[0]?.result).capabilities), {prompts: {}});
});

test('responds from the cache with the id of the request', t => {
	const {respond, request, responseTo, listRequests, client} = connect();
	respond({tools: [echo]});
	request('a');
	request(2);
	t.deepEqual(responseTo('a'), {jsonrpc: '2.0', id: 'a', result: {tools: [echo]}});
	t.deepEqual(responseTo(2), {jsonrpc: '2.0', id: 2, result: {tools: [echo]}});
	client.sendText('{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}');
	t.regex(client.receivedTexts.at(-1) ?? '', /"id":9007199254740993,/);
	t.is(listRequests().length, 1);
});

test('merges all pages, and preserves other members and the notation of numbers', t => {
	const {upstream, listRequests, request, client} = connect();
	const id = (): string => JSON.stringify(listRequests().at(-1)?.id);
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${id()},"result":{"tools":[{"name":"a","x":1.0}],"_meta":{"n":9007199254740993},"nextCursor":"2"}}`,
	);
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${id()},"result":{"tools":[{"name":"b","x":1e5}],"nextCursor":null}}`,
	);
	t.like(listRequests()[1], {params: {cursor: '2'}});
	request(1);
	t.is(
		client.receivedTexts.at(-1),
		'{"jsonrpc":"2.0","id":1,"result":{"_meta":{"n":9007199254740993},"tools":[{"name":"a","x":1.0},{"name":"b","x":1e5}]}}',
	);
});

test('forwards a request with a cursor [C11]', t => {
	const {respond, request, responseTo, listRequests, upstream} = connect();
	respond({tools: [echo]});
	request(1, {cursor: 'b'});
	t.like(listRequests().at(-1), {id: 1, params: {cursor: 'b'}});
	upstream.send({id: 1, result: {tools: [tool('second')]}});
	t.like(responseTo(1), {result: {tools: [{name: 'second'}]}});
	request(2);
	t.like(responseTo(2), {result: {tools: [{name: 'echo'}]}});
});

test('queues requests during a fetch, and fetches once', t => {
	const {respond, request, responseTo, listRequests} = connect();
	request(1);
	request(2);
	t.is(listRequests().length, 1);
	respond({tools: [echo]});
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	t.like(responseTo(2), {result: {tools: [{name: 'echo'}]}});
	t.is(listRequests().length, 1);
});

test('forwards requests beyond 100 queued ones', t => {
	const {request, listRequests} = connect();
	for (let id = 0; id <= 100; id++) request(id);
	t.deepEqual(
		listRequests()
			.slice(1)
			.map(({id}) => id),
		[100],
	);
});

test('forwards queued requests in order when the fetch fails', async t => {
	const {cache, logged} = newCache();
	const {fail, request, responseTo, listRequests, upstream} = connect({cache});
	request(1);
	request(2);
	fail();
	t.deepEqual(
		listRequests()
			.slice(1)
			.map(({id}) => id),
		[1, 2],
	);
	upstream.send({id: 1, error: {code: -32603, message: 'no database'}});
	t.like(responseTo(1), {error: {message: 'no database'}});
	t.is((await logged('tools.uncached')).length, 1);
});

test('fetches again with the next request after a failure, and forwards that request', t => {
	const {fail, respond, request, responseTo, listRequests, upstream, notifications} = connect();
	fail();
	t.is(notifications(), 0);
	request(1);
	const [own, forwarded] = listRequests().slice(1);
	t.is(forwarded?.id, 1);
	upstream.send({id: 1, result: {tools: [echo]}});
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	upstream.send({id: own?.id, result: {tools: [echo]}});
	t.is(notifications(), 1);
	request(2);
	t.like(responseTo(2), {result: {tools: [{name: 'echo'}]}});
	t.is(listRequests().length, 3);
	t.notThrows(() => respond({tools: []}));
});

for (const [list, pages] of [
	['with an error as its second page', [{tools: [echo], nextCursor: 'b'}, undefined]],
	[
		'that repeats a cursor',
		[
			{tools: [echo], nextCursor: 'b'},
			{tools: [], nextCursor: 'b'},
		],
	],
	['without an array of tools', [{tools: 'none'}]],
	['without a result', [{}]],
	['that requires input', [{tools: [], resultType: 'input_required'}]],
	['with a cursor that is not a string', [{tools: [echo], nextCursor: 7}]],
] as const)
	test(`does not cache a list ${list} [C11]`, async t => {
		const {cache, logged} = newCache();
		const {respond, fail, request, listRequests, notifications} = connect({cache});
		for (const page of pages) {
			if (page) respond(page);
			else fail();
		}
		request('a');
		t.is(listRequests().at(-1)?.id, 'a');
		t.is(notifications(), 0);
		t.is((await logged('tools.uncached')).length, 1);
	});

test('gives up on a list of more than 1000 pages', async t => {
	const {cache, logged} = newCache();
	const {respond, listRequests} = connect({cache});
	for (let page = 1; page <= 1000; page++) respond({tools: [], nextCursor: String(page)});
	t.is(listRequests().length, 1000);
	const [entry] = await logged('tools.uncached');
	t.regex(entry?.msg ?? '', /more than 1000 pages/);
});

test('does not cache a list over the limit, warns once and forwards all requests', async t => {
	const {cache, logged} = newCache({maxBytes: 200});
	const {respond, request, listRequests, notifyChange, notifications, upstream} = connect({cache});
	respond({tools: [tool('x'.repeat(200))]});
	request(1);
	t.is(listRequests().at(-1)?.id, 1);
	upstream.send({id: 1, result: {tools: []}});
	notifyChange();
	t.is(notifications(), 1);
	request(2);
	t.is(listRequests().length, 3);
	t.is((await logged('tools.too_large')).length, 1);
});

test('forwards unrelated messages byte for byte', t => {
	const {client, upstream} = connect();
	const call = '{ "jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n":1.0}}';
	client.sendText(call);
	t.is(upstream.receivedTexts.at(-1), call);
	const result = '{ "jsonrpc":"2.0","id":1,"result":{"content":[],"n":1.0}}';
	upstream.sendText(result);
	t.is(client.receivedTexts.at(-1), result);
});
