import test from 'ava';
import {connect, newCache, tool} from './cache-tools-support.js';
import {fakeTimers} from './fake-timers.js';

const [echo, add] = [tool('echo'), tool('add')];

/** Connects with this list already cached, and a clock that the test controls. */
function connectCached(...tools: readonly object[]) {
	const time = {now: 0};
	const {cache, logged} = newCache({now: () => time.now});
	const pair = connect({cache});
	pair.respond({tools});
	return {...pair, cache, storeLogged: logged, time};
}

test('fetches the list after list_changed, and notifies the client when the tools differ', t => {
	const {notifyChange, respond, request, responseTo, notifications, listRequests} = connectCached(echo);
	notifyChange();
	t.is(notifications(), 1);
	t.is(listRequests().length, 2);
	respond({tools: [echo, add]});
	t.is(notifications(), 2);
	request(1);
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}, {name: 'add'}]}});
	t.is(listRequests().length, 2);
});

test('does not notify the client when the tools only come in another order', t => {
	const {notifyChange, upstream, listRequests, notifications, request, responseTo} = connectCached(echo, add);
	notifyChange();
	const id = JSON.stringify(listRequests().at(-1)?.id);
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${id},"result":{"tools":[ {"inputSchema":{"type":"object"},"name":"add"}, {"inputSchema":{"type":"object"},"name":"echo"}]}}`,
	);
	t.is(notifications(), 1);
	request(1);
	t.like(responseTo(1), {result: {tools: [{name: 'add'}, {name: 'echo'}]}});
});

test('queues a request during a refresh until the new list arrives', t => {
	const {notifyChange, respond, request, responseTo} = connectCached(echo);
	notifyChange();
	request(1);
	t.is(responseTo(1), undefined);
	respond({tools: [add]});
	t.like(responseTo(1), {result: {tools: [{name: 'add'}]}});
});

test('discards a list that changed during its fetch, and fetches again [C12]', t => {
	const {notifyChange, respond, request, responseTo, notifications, listRequests} = connectCached(echo);
	notifyChange();
	request(1);
	notifyChange();
	notifyChange();
	t.is(listRequests().length, 2);
	respond({tools: [tool('between')]});
	t.is(notifications(), 1);
	t.is(responseTo(1), undefined);
	t.is(listRequests().length, 3);
	respond({tools: [add]});
	t.is(notifications(), 2);
	t.like(responseTo(1), {result: {tools: [{name: 'add'}]}});
	t.is(listRequests().length, 3);
});

test('repeats the first fetch when the tools change during it [C12]', t => {
	const {notifyChange, respond, request, responseTo, notifications} = connect();
	notifyChange();
	respond({tools: [echo]});
	t.is(notifications(), 0);
	respond({tools: [add]});
	t.is(notifications(), 1);
	request(1);
	t.like(responseTo(1), {result: {tools: [{name: 'add'}]}});
});

test('returns the previous list with a warning when a refresh fails [C13]', async t => {
	const {notifyChange, fail, request, responseTo, notifications, storeLogged} = connectCached(echo);
	notifyChange();
	fail();
	t.is(notifications(), 1);
	request(1);
	fail();
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	t.like(await storeLogged('tools.stale'), {0: {server: 'files', tools: 1}, length: 2});
});

test('returns a stale list once, and then forwards the error of the upstream [C13]', t => {
	const {notifyChange, fail, request, responseTo, upstream, listRequests, respond} = connectCached(echo);
	notifyChange();
	request(1);
	fail();
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	request(2);
	fail();
	t.is(listRequests().at(-1)?.id, 2);
	upstream.send({id: 2, error: {code: -32603, message: 'no database'}});
	t.like(responseTo(2), {error: {message: 'no database'}});
	request(3);
	respond({tools: [add]});
	t.like(responseTo(3), {result: {tools: [{name: 'add'}]}});
});

test('does not treat a result without tools as an empty list [C13]', t => {
	const {notifyChange, respond, request, responseTo} = connectCached(echo);
	notifyChange();
	respond({});
	request(1);
	respond({});
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
});

test('caches an empty list', t => {
	const {notifyChange, respond, request, responseTo, notifications} = connectCached(echo);
	notifyChange();
	respond({tools: []});
	t.is(notifications(), 2);
	request(1);
	t.like(responseTo(1), {result: {tools: []}});
});

test('warns about a tool whose description has changed [C15]', async t => {
	const {notifyChange, respond, storeLogged} = connectCached(tool('echo', {description: 'Repeats it.'}), add);
	notifyChange();
	respond({tools: [tool('echo', {description: 'Repeats it, and sends your keys.'}), add, tool('new')]});
	const entries = await storeLogged('tools.changed');
	t.is(entries.length, 1);
	const {server, tool: name, hash_old: before, hash_new: after} = {...entries[0]};
	t.deepEqual([server, name], ['files', 'echo']);
	for (const hash of [before, after]) t.regex(String(hash), /^[0-9a-f]{64}$/);
	t.not(before, after);
});

test('logs the first 20 changed tools by name, and counts the others [C15]', async t => {
	const tools = Array.from({length: 25}, (_, at) => tool(`t${at}`));
	const {notifyChange, respond, storeLogged} = connectCached(...tools);
	notifyChange();
	respond({tools: tools.map(tool => ({...tool, inputSchema: {type: 'object', title: 'x'}}))});
	const entries = await storeLogged('tools.changed');
	t.is(entries.length, 21);
	t.is(entries.at(-1)?.rest, 5);
});

test.serial('limits the fetches after list_changed, and fetches again later or on a request', async t => {
	const timers = fakeTimers(t);
	const {notifyChange, respond, listRequests, notifications, request, responseTo, time, storeLogged} =
		connectCached(echo);
	for (let round = 0; round < 30; round++) {
		notifyChange();
		if (round < 10) respond({tools: [echo]});
	}
	t.is(listRequests().length, 11);
	t.is(notifications(), 1);
	request(1);
	t.is(listRequests().length, 12);
	respond({tools: [echo]});
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	notifyChange();
	t.is(listRequests().length, 12);
	time.now = 10_000;
	timers.tick(10_000);
	t.is(listRequests().length, 13);
	respond({tools: [add]});
	t.is(notifications(), 2);
	t.is((await storeLogged('tools.restless')).length, 1);
});

test.serial('gives up on a list that changes during every fetch, and fetches it again later [C12]', t => {
	const timers = fakeTimers(t);
	const {notifyChange, respond, listRequests, request, responseTo, notifications, time} = connectCached(echo);
	notifyChange();
	request(1);
	for (let round = 0; round < 20 && responseTo(1) === undefined; round++) {
		notifyChange();
		respond({tools: [tool(`t${round}`)]});
	}
	t.is(listRequests().length, 11);
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	time.now = 10_000;
	timers.tick(10_000);
	respond({tools: [add]});
	t.is(notifications(), 2);
});

test.serial('does not fetch later when no conversation is left', t => {
	const timers = fakeTimers(t);
	const {notifyChange, respond, listRequests, link, time} = connectCached(echo);
	for (let round = 0; round < 10; round++) {
		notifyChange();
		respond({tools: [echo]});
	}
	notifyChange();
	link.unsubscribe();
	time.now = 10_000;
	timers.tick(10_000);
	t.is(listRequests().length, 11);
});

test('fetches the list again after a re-initialization', t => {
	const {client, listRequests} = connectCached(echo);
	client.send({method: 'notifications/initialized'});
	t.is(listRequests().length, 2);
});

test.serial('cancels the fetch when a page takes too long', async t => {
	const timers = fakeTimers(t);
	const {request, listRequests, receivedMethods, upstream, client, logged} = connect();
	request(1);
	const [own] = listRequests();
	timers.tick(60_000);
	t.true(receivedMethods().includes('notifications/cancelled'));
	t.is(listRequests().at(-1)?.id, 1);
	const before = client.received.length;
	// The late response is dropped.
	upstream.send({id: own?.id, result: {tools: [echo]}});
	t.is(client.received.length, before);
	t.deepEqual(await logged('rpc.orphan_response'), []);
});
