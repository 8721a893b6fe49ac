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

/** Appends a word to `path` in each message, which shows the stages that it passed. */
const marking = (word: string): Stage => {
	const mark = (envelope: Envelope): Envelope => {
		const {path = []} = envelope.body as {path?: string[]};
		return envelope.with({...envelope.body, path: [...path, word]});
	};
	return perMessage({toUpstream: mark, toClient: mark});
};

/** Responds to every call. */
const responding = perMessage({
	toUpstream(envelope, reply) {
		reply(Envelope.of({jsonrpc: '2.0', id: envelope.body.id, result: 'mine'}, envelope.origin));
		return undefined;
	},
});

const rejection = new BridgeError('ERR_SESSION_BUSY', 'Too many requests are pending.', 'Wait.');
const rejecting = (direction: 'toUpstream' | 'toClient'): Stage =>
	perMessage({
		[direction]: (envelope: Envelope) => {
			if (envelope.head.method === 'bad' || envelope.body.result === 'bad') throw rejection;
			return envelope;
		},
	});

const isRejection = ({error}: Body): boolean => JSON.stringify(error) === JSON.stringify(rejection.toRpc());

/** An endpoint whose `end` resolves with the error of its output, if any. */
function endpointWithEnd(name: string): {
	end: Promise<unknown>;
	endpoint: MemoryEndpoint;
	envelopes: Envelope[];
} {
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

test('forwards messages byte for byte without stages', t => {
	const {client, upstream} = start();
	client.sendText(' {"jsonrpc":"2.0", "id":1.0,"method":"a"}');
	upstream.sendText('{"jsonrpc":"2.0","result":1e3,"id":1.0} ');
	t.deepEqual(upstream.receivedTexts, [' {"jsonrpc":"2.0", "id":1.0,"method":"a"}']);
	t.deepEqual(client.receivedTexts, ['{"jsonrpc":"2.0","result":1e3,"id":1.0} ']);
});

test('forwards everything in a direction that a stage omits', t => {
	const {client, upstream} = start({}, perMessage({}), rejecting('toClient'));
	client.send({id: 1, method: 'bad'});
	t.is(upstream.received.length, 1);
});

test('passes messages through the stages in order, and in reverse order to the client', t => {
	const {client, upstream} = start(marking('a'), marking('b'), marking('c'));
	client.send({id: 1, method: 'x'});
	upstream.send({id: 1, result: 1});
	t.deepEqual(upstream.received[0]?.path, ['a', 'b', 'c']);
	t.deepEqual(client.received[0]?.path, ['c', 'b', 'a']);
});

test('drops a message if a step returns undefined', t => {
	const {client, upstream} = start(perMessage({toUpstream: () => undefined}));
	client.send({id: 1, method: 'x'});
	t.deepEqual([upstream.received, client.received], [[], []]);
});

test('sends a reply back only through the stages already passed', t => {
	const {client, upstream} = start(marking('a'), marking('b'), responding, marking('c'));
	client.send({id: 1, method: 'x'});
	t.deepEqual(client.received, [{jsonrpc: '2.0', id: 1, result: 'mine', path: ['b', 'a']}]);
	t.deepEqual(upstream.received, []);
});

test('sends a reply to the upstream only through the stages already passed', t => {
	const pong = perMessage({
		toClient(envelope, reply) {
			reply(Envelope.of({jsonrpc: '2.0', id: envelope.body.id, result: {}}, envelope.origin));
			return undefined;
		},
	});
	const {client, upstream} = start(marking('a'), pong, marking('b'), marking('c'));
	upstream.send({id: 7, method: 'ping'});
	t.deepEqual(upstream.received, [{jsonrpc: '2.0', id: 7, result: {}, path: ['b', 'c']}]);
	t.deepEqual(client.received, []);
});

test('responds with the error to a request that a step rejects, with the exact id', t => {
	const {client, upstream} = start(rejecting('toUpstream'));
	client.sendText('{"jsonrpc":"2.0","id":1.0,"method":"bad"}');
	t.true(client.received.every(isRejection));
	t.regex(client.receivedTexts.join(), /"id":1\.0,/);
	t.deepEqual(upstream.received, []);
});

test('sends an error response back through the stages already passed', t => {
	const {client} = start(marking('a'), rejecting('toUpstream'));
	client.send({id: 1, method: 'bad'});
	t.like(client.received[0], {id: 1, path: ['a']});
});

test('sends an error response to the upstream for a rejected server request', t => {
	const {client, upstream} = start(rejecting('toClient'));
	upstream.send({id: 1, method: 'bad'});
	t.true(upstream.received.length === 1 && upstream.received.every(isRejection));
	t.deepEqual(client.received, []);
});

test('drops a rejected notification or response', t => {
	const {client, upstream} = start(rejecting('toUpstream'));
	client.send({method: 'bad'});
	client.send({id: 1, result: 'bad'});
	t.deepEqual([client.received, upstream.received], [[], []]);
});

test('continues after a rejection', t => {
	const {client, upstream} = start(rejecting('toUpstream'));
	client.send({id: 1, method: 'bad'});
	client.send({id: 2, method: 'good'});
	t.deepEqual(upstream.received, [{jsonrpc: '2.0', id: 2, method: 'good'}]);
});

test('gives an error response the origin of the rejected message, so that a slow client stops only itself', t => {
	const client = endpointWithEnd('client');
	connect(client.endpoint, [rejecting('toUpstream')], memoryEndpoint('upstream'));
	client.endpoint.send({id: 1, method: 'bad'});
	t.deepEqual(
		client.envelopes.map(({origin}) => origin),
		[client.endpoint.origin],
	);
});

test('ends the conversation with any other error of a step', async t => {
	const bug = new TypeError('a bug');
	const broken = perMessage({
		toUpstream: () => {
			throw bug;
		},
	});
	const [client, upstream] = [memoryEndpoint('client'), endpointWithEnd('upstream')];
	connect(client, [broken], upstream.endpoint);
	client.send({id: 1, method: 'a'});
	t.is(await upstream.end, bug);
	t.deepEqual([client.received, upstream.envelopes], [[], []]);
});

/** A stage that records its calls and exposes its outputs. */
function recordingStage(steps: Pick<StageSteps, 'outlivesUpstream'> = {}): {
	events: unknown[];
	out: StageOutputs;
	recorder: Stage;
} {
	const events: unknown[] = [];
	const outputs: StageOutputs[] = [];
	const recorder = stage(out => {
		outputs.push(out);
		return {
			...steps,
			upstreamClosed: error => events.push(['closed', error]),
			teardown: () => events.push('stopped'),
		};
	});
	return {events, out: outputs[0] as StageOutputs, recorder};
}

test('emits messages of a stage to either side through the stages between', t => {
	const {out, recorder} = recordingStage();
	const {client, upstream} = start(marking('a'), recorder, marking('b'));
	out.toClient(Envelope.of({jsonrpc: '2.0', method: 'hello'}));
	out.toUpstream(Envelope.of({jsonrpc: '2.0', method: 'ping'}));
	t.deepEqual(client.received, [{jsonrpc: '2.0', method: 'hello', path: ['a']}]);
	t.deepEqual(upstream.received, [{jsonrpc: '2.0', method: 'ping', path: ['b']}]);
});

for (const error of [undefined, new Error('it died')])
	test(`notifies a stage that the upstream disconnected ${error ? 'with an error' : 'without an error'}`, async t => {
		const {events, recorder} = recordingStage();
		const [client, upstream] = [endpointWithEnd('client'), memoryEndpoint('upstream')];
		connect(client.endpoint, [recorder], upstream);
		upstream.end(error);
		t.deepEqual(events, [['closed', error]]);
		t.is(await client.end, error ?? 'complete');
	});

for (const error of [undefined, new Error('it died')])
	test(`lets a stage that outlives the upstream respond to the client (${error?.message ?? 'it ended'})`, t => {
		const {events, out, recorder} = recordingStage({outlivesUpstream: true});
		const {client, upstream} = start(marking('a'), responding, recorder);
		upstream.end(error);
		t.deepEqual(events, [['closed', error]]);
		client.send({id: 1, method: 'x'});
		out.toClient(Envelope.of({jsonrpc: '2.0', method: 'late'}));
		t.deepEqual(
			client.received.map(({path}) => path),
			[['a'], ['a']],
		);
	});

test('tears down a stage when the client ends', t => {
	const {events, recorder} = recordingStage();
	const {client} = start(recorder);
	client.end();
	t.deepEqual(events, ['stopped']);
});

test('tears down a stage and forwards nothing after the conversation is unsubscribed', t => {
	const {events, out, recorder} = recordingStage();
	const {client, upstream, link} = start(recorder);
	link.unsubscribe();
	t.deepEqual(events, ['stopped']);
	client.send({id: 1, method: 'a'});
	upstream.send({method: 'b'});
	out.toClient(Envelope.of({jsonrpc: '2.0', method: 'c'}));
	t.deepEqual([client.received, upstream.received], [[], []]);
});

test('completes the upstream when the client ends', async t => {
	const [client, upstream] = [memoryEndpoint('client'), endpointWithEnd('upstream')];
	connect(client, [marking('a'), perMessage({})], upstream.endpoint);
	client.end();
	t.is(await upstream.end, 'complete');
});
