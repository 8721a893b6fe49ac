import test from 'ava';
import {rewriteVersion} from '../../lib/operators/rewrite-version.js';
import {Negotiation, type NegotiationOptions} from '../../lib/protocol/negotiation.js';
import {clientVersionFor} from '../../lib/protocol/version.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {converse, readableLog} from '../helpers/pipeline.js';
import {lastOf, serverInfo} from '../helpers/version-stages.js';
import {fakeTimers} from './fake-timers.js';

function start(options: Partial<NegotiationOptions> = {}, attemptMs?: number) {
	const session = new Negotiation({upstream: 'files', ...options});
	const {log, entries} = readableLog();
	const pair = converse(
		rewriteVersion({negotiation: session, log, ...(attemptMs === undefined ? {} : {attemptMs})}),
	);
	return {...pair, session, entries};
}

type Pair = ReturnType<typeof start>;

/** As the stage before it does, the session is told first what the client is to be told. */
const initialize = ({client, session}: Pair, protocolVersion: unknown = '2025-06-18'): void => {
	session.setClient(clientVersionFor(protocolVersion, session.options.clientVersion));
	client.send({id: 1, method: 'initialize', params: {protocolVersion, capabilities: {}}});
};

const versionOf = ({received}: Pair['client']): unknown => {
	const {params, result} = lastOf({received});
	return objectOf(params ?? result).protocolVersion;
};
const allAsked = ({upstream}: Pair): unknown[] =>
	upstream.received.map(({params}) => objectOf(params).protocolVersion);

const answer = ({upstream}: Pair, protocolVersion?: string): void =>
	upstream.send({id: 1, result: {protocolVersion, capabilities: {}, serverInfo}});
const refuse = ({upstream}: Pair, error: JsonObject): void => upstream.send({id: 1, error});

test('the upstream is asked for the newest version with a handshake, whatever the client asks for', t => {
	for (const version of ['2024-11-05', '2025-11-25', '2026-07-28', 'x', '']) {
		const pair = start();
		initialize(pair, version);
		t.is(versionOf(pair.upstream), '2025-11-25');
	}
});

test('an initialize that needs no other version is the same bytes, and so is its answer', t => {
	const {client, upstream, session} = start();
	session.setClient('2025-11-25');
	const ask = '{"jsonrpc":"2.0", "id":1.0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}';
	client.sendText(ask);
	t.deepEqual(upstream.receivedTexts, [ask]);
	const told =
		'{"id":1,"jsonrpc":"2.0","result":{"protocolVersion":"2025-11-25","capabilities":{"n":1.0},"serverInfo":{"name":"f","version":"1"}}}';
	upstream.sendText(told);
	t.deepEqual(client.receivedTexts, [told]);
});

test('the upstream is asked for the target version, and no other when it refuses', t => {
	const pair = start({targetVersion: '2025-03-26'});
	initialize(pair);
	t.is(versionOf(pair.upstream), '2025-03-26');
	refuse(pair, {code: -32602, message: 'Unsupported protocol version', data: {supported: ['2024-11-05']}});
	t.deepEqual(allAsked(pair), ['2025-03-26']);
	t.like(pair.client.received, [{id: 1, error: {code: -32602}}]);
});

for (const [asked, told] of [
	['2024-11-05', '2024-11-05'],
	['2025-11-25', '2025-11-25'],
	['2024-10-07', '2024-11-05'],
	['2026-07-28', '2025-11-25'],
	['1999-01-01', '2025-11-25'],
] as const)
	test(`a client that asks for ${asked} is told ${told}`, t => {
		const pair = start();
		initialize(pair, asked);
		answer(pair, '2025-03-26');
		t.is(versionOf(pair.client), told);
		t.is(pair.session.clientVersion, told);
		t.is(pair.session.upstreamVersion, '2025-03-26');
	});

test('with a client version, the client is told that one', t => {
	const pair = start({clientVersion: '2024-11-05'});
	initialize(pair, '2025-11-25');
	answer(pair, '2025-11-25');
	t.is(versionOf(pair.client), '2024-11-05');
	t.is(pair.session.clientVersion, '2024-11-05');
});

test('an initialize without a version is refused here', t => {
	for (const version of [{}, 5, null]) {
		const pair = start();
		initialize(pair, version);
		t.like(pair.client.received, [{id: 1, error: {code: -32602}}]);
		t.deepEqual(pair.upstream.received, []);
	}
});

test('an upstream that refuses is asked for the newest version that its data names', t => {
	const pair = start();
	initialize(pair);
	const data = {supported: ['2024-11-05', '2025-03-26', '2030-01-01']};
	refuse(pair, {code: -32022, message: 'no', data});
	t.is(versionOf(pair.upstream), '2025-03-26');
	refuse(pair, {code: -32022, message: 'no', data});
	t.is(versionOf(pair.upstream), '2024-11-05');
	answer(pair, '2024-11-05');
	t.like(pair.client.received, [{id: 1, result: {protocolVersion: '2025-06-18'}}]);
	t.is(pair.session.upstreamVersion, '2024-11-05');
});

test('an upstream that refuses is asked for the version that its words name', t => {
	const pair = start();
	initialize(pair);
	refuse(pair, {code: -1, message: 'Only version 2024-11-05 is spoken here'});
	t.deepEqual(allAsked(pair), ['2025-11-25', '2024-11-05']);
});

test('an upstream that names nothing is asked for one version after the other, and its last refusal is told', async t => {
	const pair = start();
	initialize(pair);
	for (let time = 1; time <= 4; time++) refuse(pair, {code: -32603, message: `no ${time}`});
	t.deepEqual(allAsked(pair), ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']);
	t.deepEqual(pair.client.received, [{jsonrpc: '2.0', id: 1, error: {code: -32603, message: 'no 4'}}]);
	const told = (await pair.entries()).filter(({event}) => event === 'proxy.version.refused');
	t.deepEqual(
		told.map(({next}) => next),
		['2025-06-18', '2025-03-26', '2024-11-05'],
	);
});

for (const code of [-32600, -32602, -32603, -32000, -32022])
	test(`a refusal with ${code} is one of the version`, t => {
		const pair = start();
		initialize(pair);
		refuse(pair, {code, message: 'no'});
		t.is(pair.upstream.received.length, 2);
	});

test('a refusal for another reason is passed on', t => {
	const pair = start();
	initialize(pair);
	refuse(pair, {code: -32001, message: 'Unauthorized', data: {n: 1}});
	t.is(pair.upstream.received.length, 1);
	t.deepEqual(pair.client.received, [
		{jsonrpc: '2.0', id: 1, error: {code: -32001, message: 'Unauthorized', data: {n: 1}}},
	]);
});

test('after a refusal a client may try again, from the top', t => {
	const pair = start();
	for (let time = 0; time < 2; time++) {
		initialize(pair);
		refuse(pair, {code: -32001, message: 'not yet'});
	}
	t.deepEqual(allAsked(pair), ['2025-11-25', '2025-11-25']);
});

for (const version of ['2026-07-28', '2027-01-01'])
	test(`an upstream that answers initialize with ${version} is an error, with a way out`, t => {
		const pair = start();
		initialize(pair);
		answer(pair, version);
		t.like(pair.client.received, [{id: 1, error: {code: -31_001, data: {source: 'bridge'}}}]);
		t.regex(pair.client.receivedTexts[0] ?? '', /--target-version/);
		t.is(pair.session.upstreamVersion, undefined);
	});

for (const [answered, taken, isWarned] of [
	['2024-10-07', '2024-11-05', false],
	['2025-01-01', '2025-11-25', true],
	['', '2024-11-05', true],
	[undefined, '2024-11-05', true],
] as const)
	test(`an upstream that answers ${JSON.stringify(answered)} is taken to speak ${taken}`, async t => {
		const pair = start();
		initialize(pair, taken);
		answer(pair, answered);
		t.is(pair.session.upstreamVersion, taken);
		t.is(pair.session.needsTranslation, isWarned);
		const warnings = (await pair.entries()).filter(({event}) => event === 'proxy.version.unknown');
		t.is(warnings.length, isWarned ? 1 : 0);
	});

test('an answer gets what clients throw it away without', t => {
	const pair = start();
	initialize(pair);
	pair.upstream.send({
		id: 1,
		result: {protocolVersion: '2025-06-18', extra: 1, capabilities: [], serverInfo: 'x'},
	});
	t.deepEqual(lastOf(pair.client).result, {
		protocolVersion: '2025-06-18',
		extra: 1,
		capabilities: {},
		serverInfo: {name: 'unknown', version: '0'},
	});
});

test.serial('an attempt that takes too long is an error, and a late answer is not waited for', t => {
	const {tick} = fakeTimers(t);
	const pair = start({}, 5000);
	initialize(pair);
	tick(4999);
	t.deepEqual(pair.client.received, []);
	tick(1);
	const data = {source: 'bridge', kind: 'timeout', timeoutMs: 5000, method: 'initialize'};
	t.like(pair.client.received, [{id: 1, error: {code: -31_002, data}}]);
	t.is(pair.upstream.received.length, 1);
	answer(pair, '2025-11-25');
	t.is(pair.session.upstreamVersion, undefined);
});

test.serial('each attempt has the whole time', t => {
	const {tick} = fakeTimers(t);
	const pair = start({}, 5000);
	initialize(pair);
	tick(4000);
	refuse(pair, {code: -32602, message: 'no'});
	tick(4000);
	t.deepEqual(pair.client.received, []);
	tick(1000);
	t.like(pair.client.received, [{error: {code: -31_002}}]);
});

test.serial('people are told every ten seconds that an answer is waited for, until it is there', async t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	initialize(pair);
	tick(25_000);
	answer(pair, '2025-11-25');
	tick(50_000);
	t.is((await pair.entries()).filter(({event}) => event === 'proxy.waiting').length, 2);
});

for (const [what, end] of [
	['upstream', (pair: Pair) => pair.upstream.end()],
	['client', (pair: Pair) => pair.client.end()],
] as const)
	test.serial(`nothing is waited for when the ${what} is gone`, t => {
		const {tick} = fakeTimers(t);
		const pair = start({}, 5000);
		initialize(pair);
		end(pair);
		tick(10_000);
		t.deepEqual(pair.client.received, []);
	});
