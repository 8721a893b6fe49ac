import test from 'ava';
import {rewriteVersion} from '../../lib/operators/rewrite-version.js';
import {Negotiation, type NegotiationOptions} from '../../lib/protocol/negotiation.js';
import {clientVersionFor} from '../../lib/protocol/version.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {converse, readableLog} from '../helpers/pipeline.js';
import {lastOf, serverInfo} from '../helpers/version-stages.js';
import {fakeTimers} from './fake-timers.js';

function start(options: Partial<NegotiationOptions> = {}, attemptMs?: number) {
	const negotiation = new Negotiation({upstream: 'files', ...options});
	const {log, entries} = readableLog();
	const pair = converse(rewriteVersion({negotiation, log, ...(attemptMs === undefined ? {} : {attemptMs})}));
	return {...pair, negotiation, entries};
}

type Pair = ReturnType<typeof start>;

/** Sets the version of the client first, as `queueUntilReady` does. */
const initialize = ({client, negotiation}: Pair, protocolVersion: unknown = '2025-06-18'): void => {
	negotiation.setClient(clientVersionFor(protocolVersion, negotiation.options.clientVersion));
	client.send({id: 1, method: 'initialize', params: {protocolVersion, capabilities: {}}});
};

const versionOf = ({received}: Pair['client']): unknown => {
	const {params, result} = lastOf({received});
	return objectOf(params ?? result).protocolVersion;
};
const requestedVersions = ({upstream}: Pair): unknown[] =>
	upstream.received.map(({params}) => objectOf(params).protocolVersion);

const respond = ({upstream}: Pair, protocolVersion?: string): void =>
	upstream.send({id: 1, result: {protocolVersion, capabilities: {}, serverInfo}});
const reject = ({upstream}: Pair, error: JsonObject): void => upstream.send({id: 1, error});

test('requests the newest handshake version, whatever the client requests', t => {
	for (const version of ['2024-11-05', '2025-11-25', '2026-07-28', 'x', '']) {
		const pair = start();
		initialize(pair, version);
		t.is(versionOf(pair.upstream), '2025-11-25');
	}
});

test('forwards initialize and its response byte for byte if the version stays the same', t => {
	const {client, upstream, negotiation} = start();
	negotiation.setClient('2025-11-25');
	const request =
		'{"jsonrpc":"2.0", "id":1.0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}';
	client.sendText(request);
	t.deepEqual(upstream.receivedTexts, [request]);
	const response =
		'{"id":1,"jsonrpc":"2.0","result":{"protocolVersion":"2025-11-25","capabilities":{"n":1.0},"serverInfo":{"name":"f","version":"1"}}}';
	upstream.sendText(response);
	t.deepEqual(client.receivedTexts, [response]);
});

test('requests only the target version, even after a rejection', t => {
	const pair = start({targetVersion: '2025-03-26'});
	initialize(pair);
	t.is(versionOf(pair.upstream), '2025-03-26');
	reject(pair, {code: -32602, message: 'Unsupported protocol version', data: {supported: ['2024-11-05']}});
	t.deepEqual(requestedVersions(pair), ['2025-03-26']);
	t.like(pair.client.received, [{id: 1, error: {code: -32602}}]);
});

for (const [requested, returned] of [
	['2024-11-05', '2024-11-05'],
	['2025-11-25', '2025-11-25'],
	['2024-10-07', '2024-11-05'],
	['2026-07-28', '2025-11-25'],
	['1999-01-01', '2025-11-25'],
] as const)
	test(`responds to a client that requests ${requested} with ${returned}`, t => {
		const pair = start();
		initialize(pair, requested);
		respond(pair, '2025-03-26');
		t.is(versionOf(pair.client), returned);
		t.is(pair.negotiation.clientVersion, returned);
		t.is(pair.negotiation.upstreamVersion, '2025-03-26');
	});

test('returns the configured client version', t => {
	const pair = start({clientVersion: '2024-11-05'});
	initialize(pair, '2025-11-25');
	respond(pair, '2025-11-25');
	t.is(versionOf(pair.client), '2024-11-05');
	t.is(pair.negotiation.clientVersion, '2024-11-05');
});

test('rejects an initialize without a version', t => {
	for (const version of [{}, 5, null]) {
		const pair = start();
		initialize(pair, version);
		t.like(pair.client.received, [{id: 1, error: {code: -32602}}]);
		t.deepEqual(pair.upstream.received, []);
	}
});

test('retries with the newest supported version in the error data', t => {
	const pair = start();
	initialize(pair);
	const data = {supported: ['2024-11-05', '2025-03-26', '2030-01-01']};
	reject(pair, {code: -32022, message: 'no', data});
	t.is(versionOf(pair.upstream), '2025-03-26');
	reject(pair, {code: -32022, message: 'no', data});
	t.is(versionOf(pair.upstream), '2024-11-05');
	respond(pair, '2024-11-05');
	t.like(pair.client.received, [{id: 1, result: {protocolVersion: '2025-06-18'}}]);
	t.is(pair.negotiation.upstreamVersion, '2024-11-05');
});

test('retries with the version in the error message', t => {
	const pair = start();
	initialize(pair);
	reject(pair, {code: -1, message: 'Only version 2024-11-05 is spoken here'});
	t.deepEqual(requestedVersions(pair), ['2025-11-25', '2024-11-05']);
});

test('retries with each older version if the error names none, and forwards the last error', async t => {
	const pair = start();
	initialize(pair);
	for (let time = 1; time <= 4; time++) reject(pair, {code: -32603, message: `no ${time}`});
	t.deepEqual(requestedVersions(pair), ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']);
	t.deepEqual(pair.client.received, [{jsonrpc: '2.0', id: 1, error: {code: -32603, message: 'no 4'}}]);
	const retries = (await pair.entries()).filter(({event}) => event === 'proxy.version.refused');
	t.deepEqual(
		retries.map(({next}) => next),
		['2025-06-18', '2025-03-26', '2024-11-05'],
	);
});

for (const code of [-32600, -32602, -32603, -32000, -32022])
	test(`treats error ${code} as a rejection of the version`, t => {
		const pair = start();
		initialize(pair);
		reject(pair, {code, message: 'no'});
		t.is(pair.upstream.received.length, 2);
	});

test('forwards other errors', t => {
	const pair = start();
	initialize(pair);
	reject(pair, {code: -32001, message: 'Unauthorized', data: {n: 1}});
	t.is(pair.upstream.received.length, 1);
	t.deepEqual(pair.client.received, [
		{jsonrpc: '2.0', id: 1, error: {code: -32001, message: 'Unauthorized', data: {n: 1}}},
	]);
});

test('starts again with the newest version after an error', t => {
	const pair = start();
	for (let time = 0; time < 2; time++) {
		initialize(pair);
		reject(pair, {code: -32001, message: 'not yet'});
	}
	t.deepEqual(requestedVersions(pair), ['2025-11-25', '2025-11-25']);
});

for (const version of ['2026-07-28', '2027-01-01'])
	test(`fails initialize with a remedy when the upstream responds with ${version}`, t => {
		const pair = start();
		initialize(pair);
		respond(pair, version);
		t.like(pair.client.received, [{id: 1, error: {code: -31_001, data: {source: 'bridge'}}}]);
		t.regex(pair.client.receivedTexts[0] ?? '', /--target-version/);
		t.is(pair.negotiation.upstreamVersion, undefined);
	});

for (const [returned, assumed, isWarned] of [
	['2024-10-07', '2024-11-05', false],
	['2025-01-01', '2025-11-25', true],
	['', '2024-11-05', true],
	[undefined, '2024-11-05', true],
] as const)
	test(`treats the upstream version ${JSON.stringify(returned)} as ${assumed}`, async t => {
		const pair = start();
		initialize(pair, assumed);
		respond(pair, returned);
		t.is(pair.negotiation.upstreamVersion, assumed);
		t.is(pair.negotiation.needsTranslation, isWarned);
		const warnings = (await pair.entries()).filter(({event}) => event === 'proxy.version.unknown');
		t.is(warnings.length, isWarned ? 1 : 0);
	});

test('adds members that clients require to the result', t => {
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

test.serial('fails an attempt that takes too long, and ignores a late response', t => {
	const {tick} = fakeTimers(t);
	const pair = start({}, 5000);
	initialize(pair);
	tick(4999);
	t.deepEqual(pair.client.received, []);
	tick(1);
	const data = {source: 'bridge', kind: 'timeout', timeoutMs: 5000, method: 'initialize'};
	t.like(pair.client.received, [{id: 1, error: {code: -31_002, data}}]);
	t.is(pair.upstream.received.length, 1);
	respond(pair, '2025-11-25');
	t.is(pair.negotiation.upstreamVersion, undefined);
});

test.serial('applies the time limit to each attempt separately', t => {
	const {tick} = fakeTimers(t);
	const pair = start({}, 5000);
	initialize(pair);
	tick(4000);
	reject(pair, {code: -32602, message: 'no'});
	tick(4000);
	t.deepEqual(pair.client.received, []);
	tick(1000);
	t.like(pair.client.received, [{error: {code: -31_002}}]);
});

test.serial('logs every ten seconds that the upstream has not responded yet', async t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	initialize(pair);
	tick(25_000);
	respond(pair, '2025-11-25');
	tick(50_000);
	t.is((await pair.entries()).filter(({event}) => event === 'proxy.waiting').length, 2);
});

for (const [side, end] of [
	['upstream', (pair: Pair) => pair.upstream.end()],
	['client', (pair: Pair) => pair.client.end()],
] as const)
	test.serial(`clears its timers when the ${side} disconnects`, t => {
		const {tick} = fakeTimers(t);
		const pair = start({}, 5000);
		initialize(pair);
		end(pair);
		tick(10_000);
		t.deepEqual(pair.client.received, []);
	});
