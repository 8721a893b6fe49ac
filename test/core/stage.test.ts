import test from 'ava';
import type {Subscription} from 'rxjs';
import {type Body, Envelope} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import {type MemoryEndpoint, memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {
	connect,
	perMessage,
	type Stage,
	type StageOutputs,
	type StageSteps,
	stage,
} from '../../lib/core/stage.js';

const start = (
	...stages: Stage[]
): {client: MemoryEndpoint; upstream: MemoryEndpoint; link: Subscription} => {
	const [client, upstream] = [memoryEndpoint('client'), memoryEndpoint('upstream')];
	return {client, upstream, link: connect(client, stages, upstream)};
};

/** Adds a word to the list that a message carries, so that it tells which way it went. */
const marking = (word: string): Stage => {
	const mark = (envelope: Envelope): Envelope => {
		const {way = []} = envelope.body as {way?: string[]};
		return envelope.with({...envelope.body, way: [...way, word]});
	};
	return perMessage({toUpstream: mark, toClient: mark});
};

/** Answers every call itself. */
const answering = perMessage({
	toUpstream(envelope, answer) {
		answer(Envelope.of({jsonrpc: '2.0', id: envelope.body.id, result: 'mine'}, envelope.origin));
		return undefined;
	},
});

const refusal = new BridgeError('ERR_SESSION_BUSY', 'There is no room.', 'Wait.');
const refusing = (direction: 'toUpstream' | 'toClient'): Stage =>
	perMessage({
		[direction]: (envelope: Envelope) => {
			if (envelope.head.method === 'bad' || envelope.body.result === 'bad') throw refusal;
			return envelope;
		},
	});

const isRefusal = ({error}: Body): boolean => JSON.stringify(error) === JSON.stringify(refusal.toRpc());

/** An endpoint whose end can be waited for: it resolves to the error that its output was given, if there was one. */
function ending(name: string): {end: Promise<unknown>; endpoint: MemoryEndpoint; envelopes: Envelope[]} {
	const envelopes: Envelope[] = [];
	const inner = memoryEndpoint(name);
	let endpoint: MemoryEndpoint = inner;
	const end = new Promise(resolve => {
		const outgoing = {
			next: (envelope: Envelope) => void envelopes.push(envelope),
			error: resolve,
			complete: () => resolve('complete'),
		};
		endpoint = {...inner, outgoing};
	});
	return {end, endpoint, envelopes};
}

test('without stages everything passes both ways, byte for byte', t => {
	const {client, upstream} = start();
	client.sendText(' {"jsonrpc":"2.0", "id":1.0,"method":"a"}');
	upstream.sendText('{"jsonrpc":"2.0","result":1e3,"id":1.0} ');
	t.deepEqual(upstream.receivedTexts, [' {"jsonrpc":"2.0", "id":1.0,"method":"a"}']);
	t.deepEqual(client.receivedTexts, ['{"jsonrpc":"2.0","result":1e3,"id":1.0} ']);
});

test('a direction that a stage leaves out passes everything', t => {
	const {client, upstream} = start({}, perMessage({}), refusing('toClient'));
	client.send({id: 1, method: 'bad'});
	t.is(upstream.received.length, 1);
});

test('stages are passed from the client to the upstream in their order, and back in the other', t => {
	const {client, upstream} = start(marking('a'), marking('b'), marking('c'));
	client.send({id: 1, method: 'x'});
	upstream.send({id: 1, result: 1});
	t.deepEqual(upstream.received[0]?.way, ['a', 'b', 'c']);
	t.deepEqual(client.received[0]?.way, ['c', 'b', 'a']);
});

test('a step that returns nothing swallows the message', t => {
	const {client, upstream} = start(perMessage({toUpstream: () => undefined}));
	client.send({id: 1, method: 'x'});
	t.deepEqual([upstream.received, client.received], [[], []]);
});

test('an answer goes back through the stages already passed, and through no other', t => {
	const {client, upstream} = start(marking('a'), marking('b'), answering, marking('c'));
	client.send({id: 1, method: 'x'});
	t.deepEqual(client.received, [{jsonrpc: '2.0', id: 1, result: 'mine', way: ['b', 'a']}]);
	t.deepEqual(upstream.received, []);
});

test('an answer to the upstream goes back through the stages already passed, too', t => {
	const pong = perMessage({
		toClient(envelope, answer) {
			answer(Envelope.of({jsonrpc: '2.0', id: envelope.body.id, result: {}}, envelope.origin));
			return undefined;
		},
	});
	const {client, upstream} = start(marking('a'), pong, marking('b'), marking('c'));
	upstream.send({id: 7, method: 'ping'});
	t.deepEqual(upstream.received, [{jsonrpc: '2.0', id: 7, result: {}, way: ['b', 'c']}]);
	t.deepEqual(client.received, []);
});

test('a request that a step refuses is answered with the error, under its id as it is written', t => {
	const {client, upstream} = start(refusing('toUpstream'));
	client.sendText('{"jsonrpc":"2.0","id":1.0,"method":"bad"}');
	t.true(client.received.every(isRefusal));
	t.regex(client.receivedTexts.join(), /"id":1\.0,/);
	t.deepEqual(upstream.received, []);
});

test('the refusal of a request goes back through the stages already passed', t => {
	const {client} = start(marking('a'), refusing('toUpstream'));
	client.send({id: 1, method: 'bad'});
	t.like(client.received[0], {id: 1, way: ['a']});
});

test("the upstream's request that a step refuses is answered to the upstream", t => {
	const {client, upstream} = start(refusing('toClient'));
	upstream.send({id: 1, method: 'bad'});
	t.true(upstream.received.length === 1 && upstream.received.every(isRefusal));
	t.deepEqual(client.received, []);
});

test('a notification or an answer that a step refuses is dropped, for nobody waits for an answer to it', t => {
	const {client, upstream} = start(refusing('toUpstream'));
	client.send({method: 'bad'});
	client.send({id: 1, result: 'bad'});
	t.deepEqual([client.received, upstream.received], [[], []]);
});

test('after a refusal the stream goes on', t => {
	const {client, upstream} = start(refusing('toUpstream'));
	client.send({id: 1, method: 'bad'});
	client.send({id: 2, method: 'good'});
	t.deepEqual(upstream.received, [{jsonrpc: '2.0', id: 2, method: 'good'}]);
});

test('the refusal is of the origin whose message caused it, so that a slow reader stops its own calls', t => {
	const client = ending('client');
	connect(client.endpoint, [refusing('toUpstream')], memoryEndpoint('upstream'));
	client.endpoint.send({id: 1, method: 'bad'});
	t.deepEqual(
		client.envelopes.map(({origin}) => origin),
		[client.endpoint.origin],
	);
});

test('any other error in a step ends the conversation with it', async t => {
	const bug = new TypeError('a bug');
	const broken = perMessage({
		toUpstream: () => {
			throw bug;
		},
	});
	const [client, upstream] = [memoryEndpoint('client'), ending('upstream')];
	connect(client, [broken], upstream.endpoint);
	client.send({id: 1, method: 'a'});
	t.is(await upstream.end, bug);
	t.deepEqual([client.received, upstream.envelopes], [[], []]);
});

/** A stage that notes what it is told, and whose outlets are in the test's hands. */
function noting(steps: Pick<StageSteps, 'outlivesUpstream'> = {}): {
	told: unknown[];
	out: StageOutputs;
	noted: Stage;
} {
	const told: unknown[] = [];
	const outlets: StageOutputs[] = [];
	const noted = stage(out => {
		outlets.push(out);
		return {
			...steps,
			upstreamClosed: error => told.push(['gone', error]),
			teardown: () => told.push('stopped'),
		};
	});
	return {told, out: outlets[0] as StageOutputs, noted};
}

test('a stage speaks of its own accord to either side, through the stages between', t => {
	const {out, noted} = noting();
	const {client, upstream} = start(marking('a'), noted, marking('b'));
	out.toClient(Envelope.of({jsonrpc: '2.0', method: 'hello'}));
	out.toUpstream(Envelope.of({jsonrpc: '2.0', method: 'ping'}));
	t.deepEqual(client.received, [{jsonrpc: '2.0', method: 'hello', way: ['a']}]);
	t.deepEqual(upstream.received, [{jsonrpc: '2.0', method: 'ping', way: ['b']}]);
});

for (const error of [undefined, new Error('it died')])
	test(`a stage is told that the upstream is gone, ${error ? 'with the error it died of' : 'without an error'}`, async t => {
		const {told, noted} = noting();
		const [client, upstream] = [ending('client'), memoryEndpoint('upstream')];
		connect(client.endpoint, [noted], upstream);
		upstream.end(error);
		t.deepEqual(told, [['gone', error]]);
		t.is(await client.end, error ?? 'complete');
	});

for (const error of [undefined, new Error('it died')])
	test(`a stage that outlives the upstream still answers the client (${error?.message ?? 'it ended'})`, t => {
		const {told, out, noted} = noting({outlivesUpstream: true});
		const {client, upstream} = start(marking('a'), answering, noted);
		upstream.end(error);
		t.deepEqual(told, [['gone', error]]);
		client.send({id: 1, method: 'x'});
		out.toClient(Envelope.of({jsonrpc: '2.0', method: 'late'}));
		t.deepEqual(
			client.received.map(({way}) => way),
			[['a'], ['a']],
		);
	});

test('a stage is stopped when the client ends', t => {
	const {told, noted} = noting();
	const {client} = start(noted);
	client.end();
	t.deepEqual(told, ['stopped']);
});

test('a stage is stopped when the conversation is taken down, and nothing passes any more', t => {
	const {told, out, noted} = noting();
	const {client, upstream, link} = start(noted);
	link.unsubscribe();
	t.deepEqual(told, ['stopped']);
	client.send({id: 1, method: 'a'});
	upstream.send({method: 'b'});
	out.toClient(Envelope.of({jsonrpc: '2.0', method: 'c'}));
	t.deepEqual([client.received, upstream.received], [[], []]);
});

test('the end of the client is passed on to the upstream', async t => {
	const [client, upstream] = [memoryEndpoint('client'), ending('upstream')];
	connect(client, [marking('a'), perMessage({})], upstream.endpoint);
	client.end();
	t.is(await upstream.end, 'complete');
});
