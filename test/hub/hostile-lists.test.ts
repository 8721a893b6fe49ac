import test from 'ava';
import {Envelope} from '../../lib/core/envelope.js';
import {CoalescedReads} from '../../lib/hub/coalesced-reads.js';
import type {HubUpstream} from '../../lib/hub/hub-upstream.js';
import type {HubUpstreams} from '../../lib/hub/hub-upstreams.js';
import {MergedLists} from '../../lib/hub/merged-lists.js';
import {MAX_LIST_BYTES, MAX_LIST_ITEMS, readList} from '../../lib/hub/upstream-lists.js';
import {UpstreamRpcClient} from '../../lib/hub/upstream-rpc-client.js';
import {inlineServer} from '../e2e/hub/inline-server.js';
import {errorIn, shop, startHub, textIn} from '../e2e/hub/support.js';
import {until} from '../helpers/program.js';
import {memoryLog} from '../run/support.js';

type Reply = (method: string, cursor: unknown) => string;

/** The RPC client of a server that replies to each request with a result, in JSON. */
function rpcClientFor(reply: Reply): UpstreamRpcClient {
	const rpc = new UpstreamRpcClient({server: 'big', onMessage: () => {}});
	rpc.incoming.subscribe(({head: {id}, body}) => {
		const {cursor} = body.params as {readonly cursor?: unknown};
		const result = reply(String(body.method), cursor);
		queueMicrotask(() =>
			rpc.outgoing.next(Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)),
		);
	});
	return rpc;
}

const tools = {server: 'big', method: 'tools/list', member: 'tools', key: 'name'};
const readTools = (reply: Reply) => readList(rpcClientFor(reply), tools);
const items = (count: number): string =>
	Array.from({length: count}, (_, at) => `{"name":"t${at}"}`).join(',');

test('rejects a list of one page that is longer than the limit [SEC-D11]', async t => {
	const page = `{"tools":[{"name":"a","description":"${'x'.repeat(MAX_LIST_BYTES)}"}]}`;
	await t.throwsAsync(
		readTools(() => page),
		{message: 'sent too long a response to tools/list: the limit is 4194304 bytes'},
	);
});

test('the limit of a list applies to all its pages together [SEC-D11]', async t => {
	const description = 'x'.repeat(MAX_LIST_BYTES / 4);
	let pages = 0;
	const reply = (): string =>
		`{"tools":[{"name":"a","description":"${description}"}],"nextCursor":"${++pages}"}`;
	await t.throwsAsync(readTools(reply), {message: /the limit is 4194304 bytes$/});
	t.is(pages, 4);
});

test('rejects a list with too many items, in one page or in two [SEC-D11]', async t => {
	const error = {message: 'sent too long a response to tools/list: the limit is 10000 items'};
	t.is((await readTools(() => `{"tools":[${items(MAX_LIST_ITEMS)}]}`)).length, MAX_LIST_ITEMS);
	await t.throwsAsync(
		readTools(() => `{"tools":[${items(MAX_LIST_ITEMS + 1)}]}`),
		error,
	);
	await t.throwsAsync(
		readTools((_, cursor) => `{"tools":[${items(6000)}]${cursor === 1 ? '' : ',"nextCursor":1'}}`),
		error,
	);
});

test('list items keep the text of their numbers, whether or not parsing would change it', async t => {
	const [first] = await readTools(() => '{"tools":[{"name":"a","n":12345678901234567890,"m":1.50}]}');
	t.is(first?.rest, '{"n":12345678901234567890,"m":1.50}');
	t.deepEqual(first?.body, {name: 'a', n: 12_345_678_901_234_567_000, m: 1.5});
	const [second] = await readTools(() => '{"tools":[{"name":"a","execution":{},"m":1.5}]}');
	t.is(second?.rest, '{"m":1.5}');
	t.deepEqual(second?.body, {name: 'a', m: 1.5});
});

test('a server whose list is too long is unavailable, with its name, the method and the limit [SEC-D11]', async t => {
	const servers = {wix: shop('wix', '--tools=10001'), notion: shop('notion')};
	const hub = await startHub(t, {expose: 'tools', servers});
	t.is((await hub.toolNames()).length, 12);
	t.regex(
		errorIn(await hub.call('wix__search')).message,
		/'wix' unavailable: sent too long a response to tools\/list: the limit is 10000 items/,
	);
});

test('reads a list that constantly changes once a second, and uses the changes [SEC-D11]', async t => {
	// The pause is measured from before the response to the next request, so a busy machine can only make it longer.
	const server = inlineServer(`
		let sentAt;
		const pauses = [];
		const list = methods['tools/list'];
		methods['tools/list'] = (_, id) => {
			if (sentAt !== undefined) pauses.push(performance.now() - sentAt);
			if (pauses.length === 3) process.stderr.write('shortest pause: ' + Math.min(...pauses.slice(1)) + ' ms\\n');
			const {tools} = list();
			sentAt = performance.now();
			send({id, result: {tools: [...tools, {name: 'more-' + pauses.length, inputSchema: schema}]}});
			for (let at = 0; at < 100; at++) send({method: 'notifications/tools/list_changed'});
		};`);
	const hub = await startHub(t, {expose: 'tools', servers: {server}});
	t.true((await hub.toolNames()).includes('server__act'));
	await until(async () => (await hub.toolNames()).some(name => Number(/__more-(\d+)/.exec(name)?.[1]) >= 2));
	await until(() => /shortest pause: \d/.test(hub.running.stderr));
	const shortest = /shortest pause: ([\d.]+)/.exec(hub.running.stderr)?.[1];
	t.true(Number(shortest) > 950, shortest);
});

/** The lists of two servers, each of which counts its requests. */
function mergedOf(replies: {readonly [server: string]: Reply}) {
	const requests: string[] = [];
	const upstreams = Object.entries(replies).map(([name, reply]) => {
		const rpc = rpcClientFor((method, cursor) => {
			requests.push(`${name} ${method}`);
			return reply(method, cursor);
		});
		return {name, rpc, state: 'connected', hasCapability: () => true};
	});
	const all = {connected: upstreams, get: (name: string) => upstreams.find(one => one.name === name)};
	return {requests, lists: new MergedLists(all as unknown as HubUpstreams, memoryLog())};
}

const {signal} = new AbortController();
const emptyLists = '{"resources":[],"resourceTemplates":[],"prompts":[]}';

test('requests for unknown resources share one read of the lists, also soon after it [SEC-D11]', async t => {
	const {requests, lists} = mergedOf({one: () => emptyLists, two: () => emptyLists});
	const find = (at: number): Promise<HubUpstream> =>
		lists.upstreamOfResource(`no://${at}`, new AbortController().signal);
	const found = await Promise.allSettled(Array.from({length: 50}, (_, at) => find(at)));
	t.true(found.every(({status}) => status === 'rejected'));
	await t.throwsAsync(find(50), {message: 'Resource not found: no://50'});
	t.is(requests.length, 4);
});

test('requests for unknown prompts share one read of the lists [SEC-D11]', async t => {
	const {requests, lists} = mergedOf({one: () => emptyLists, two: () => emptyLists});
	for (let at = 0; at < 20; at++) await t.throwsAsync(lists.findPrompt(`p${at}`, signal));
	t.is(requests.length, 2);
});

test('a resource that was not found is found once a list changes', async t => {
	let resources = '';
	const {lists} = mergedOf({one: () => emptyLists, two: () => `{"resources":[${resources}]}`});
	await t.throwsAsync(lists.upstreamOfResource('new://thing', signal));
	resources = '{"uri":"new://thing"}';
	lists.invalidate();
	let owner: HubUpstream | undefined;
	void lists.upstreamOfResource('new://thing', signal).then(upstream => {
		owner = upstream;
	});
	// The timer of the read does not keep the process alive, but this does.
	await until(() => owner !== undefined);
	t.is(owner?.name, 'two');
});

test('many templates of one server do not disable those of another [SEC-D11]', async t => {
	const many = Array.from({length: 300}, (_, at) => `{"uriTemplate":"one://${at}/{id}"}`);
	const {lists} = mergedOf({
		one: () => `{"resourceTemplates":[${many}]}`,
		two: () => '{"resourceTemplates":[{"uriTemplate":"two://{id}"}]}',
	});
	t.is((await lists.upstreamOfResource('two://7', signal)).name, 'two');
	t.is((await lists.upstreamOfResource('one://199/7', signal)).name, 'one');
	await t.throwsAsync(lists.upstreamOfResource('one://200/7', signal), {message: /not found/});
});

test('cancelling a request does not end a read that other requests wait for [SEC-D11]', async t => {
	let finish = (): void => {};
	let count = 0;
	const reads = new CoalescedReads(() => {
		count++;
		return new Promise(resolve => {
			finish = resolve;
		});
	});
	const cancelled = new AbortController();
	const [one, other] = [reads.ensureRecent(cancelled.signal), reads.ensureRecent(signal)];
	cancelled.abort(new Error('cancelled'));
	await t.throwsAsync(one, {message: 'cancelled'});
	await until(() => count === 1);
	finish();
	await other;
	t.is(count, 1);
});

test('a change during a read causes another read for later requests', async t => {
	const ends: Array<() => void> = [];
	const reads = new CoalescedReads(
		() =>
			new Promise(resolve => {
				ends.push(resolve);
			}),
	);
	const before = reads.ensureRecent(signal);
	await until(() => ends.length === 1);
	reads.invalidate();
	const after = reads.ensureRecent(signal);
	ends[0]?.();
	await before;
	await until(() => ends.length === 2);
	ends[1]?.();
	await after;
	t.is(ends.length, 2);
});

test('a resource is found as soon as its server notifies a change of its list', async t => {
	const server = inlineServer(`
		methods['resources/read'] = ({uri}) => ({contents: [{uri, text: 'found'}]});
		methods['tools/call'] = () => {
			methods['resources/list'] = () => ({resources: [{uri: 'new://thing', name: 'thing'}]});
			send({method: 'notifications/resources/list_changed'});
			return {content: [{type: 'text', text: 'added'}]};
		};`);
	const hub = await startHub(t, {expose: 'tools', servers: {wix: shop('wix'), server}});
	t.is(errorIn(await hub.ask('resources/read', {uri: 'new://thing'})).code, -32002);
	t.is(textIn(await hub.call('server__act')), 'added');
	t.like(await hub.ask('resources/read', {uri: 'new://thing'}), {result: {contents: [{text: 'found'}]}});
});
