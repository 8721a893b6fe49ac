import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {recordMessages} from '../../lib/traffic-log/record-messages.js';
import {TrafficLog} from '../../lib/traffic-log/traffic-log.js';
import {wrapStages} from '../../pipelines/wrap.js';
import {type Message, opening, VERSION} from '../helpers/bridge.js';
import {converse, readableLog, until} from '../helpers/pipeline.js';
import {readLog, tempFolder} from '../helpers/temp-folder.js';

const start = (t: ExecutionContext, timeoutMs = 60_000) => {
	const file = join(tempFolder(t), 'traffic.ndjson');
	const traffic = new TrafficLog({destination: {file}});
	const shown: string[] = [];
	const {log, entries} = readableLog();
	const taps = recordMessages({log: traffic, client: 'client', upstream: 'files', withSecrets: false});
	const trace = {write: (line: string) => void shown.push(line), hasColor: false};
	const logged = async () => {
		await traffic.close();
		return readLog(file);
	};
	const ends = converse(...wrapStages({log, upstream: 'files', transport: 'stdio', timeoutMs, trace, taps}));
	return {...ends, shown, entries, logged};
};

/** Completes the handshake in these versions, and clears the received messages. */
function completeHandshake(
	{client, upstream}: ReturnType<typeof converse>,
	clientVersion = VERSION,
	upstreamVersion = VERSION,
): void {
	client.send({id: 'first', method: 'initialize', params: {...opening, protocolVersion: clientVersion}});
	const result = {
		protocolVersion: upstreamVersion,
		capabilities: {},
		serverInfo: {name: 'files', version: '1'},
	};
	upstream.send({id: 'first', result});
	client.send({method: 'notifications/initialized'});
	for (const {received, receivedTexts} of [client, upstream]) receivedTexts.length = received.length = 0;
}

test('forwards a whole conversation byte for byte, and shows and records each message once', async t => {
	const {client, upstream, shown, logged, entries} = start(t);
	const messages: Array<[from: 'client' | 'upstream', text: string]> = [
		['client', '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'],
		[
			'upstream',
			'{"result":{"capabilities":{},"serverInfo":{"name":"f", "version":"1"},"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0}',
		],
		['client', '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
		[
			'client',
			'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"read","arguments":{"n":1.0},"_meta":{"progressToken":"a"}}}',
		],
		['upstream', '{"jsonrpc":"2.0","id":1,"method":"roots/list"}'],
		['client', '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}'],
		['upstream', '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a"}}'],
		['upstream', '{"jsonrpc":"2.0","id":"a","result": {"content":[]} }'],
	];
	for (const [from, text] of messages) (from === 'client' ? client : upstream).sendText(text);
	const by = (side: string) => messages.filter(([from]) => from === side).map(([, text]) => text);
	t.deepEqual(upstream.receivedTexts, by('client'));
	t.deepEqual(client.receivedTexts, by('upstream'));
	t.is(shown.length, messages.length);
	const [, ...lines] = await logged();
	t.deepEqual(
		lines.map(({message}) => message),
		messages.map(([, text]) => JSON.parse(text)),
	);
	t.true(lines.every(({side}) => side === 'client'));
	t.deepEqual(
		(await entries()).map(({event}) => event),
		['proxy.connect'],
	);
});

test('rejects an invalid message, shows and records it, and does not forward it', async t => {
	const {client, upstream, shown, logged} = start(t);
	client.sendText('hello');
	t.like(client.received, [{id: null, error: {code: -32_700}}]);
	t.deepEqual(upstream.received, []);
	t.is(shown.length, 2);
	t.regex(shown[0] ?? '', /→ not JSON/);
	t.like(await logged(), [
		{event: 'open'},
		{data: 'hello', side: 'client'},
		{from: 'bridge', side: 'client'},
	]);
});

test('fails and cancels a request at the time limit, and drops its late response', async t => {
	const ends = start(t, 5);
	const {client, upstream, logged, entries} = ends;
	completeHandshake(ends);
	client.send({id: 1, method: 'slow'});
	await until(() => client.received.length > 0);
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, error: {code: -31_002}}]);
	t.is(client.received.length, 1);
	t.like(upstream.received[1], {method: 'notifications/cancelled', params: {requestId: 1}});
	t.like((await entries()).at(-1), {event: 'rpc.orphan_response'});
	// After the open record and the handshake.
	const sides = (await logged()).slice(4).map(({from, side}) => `${from} ${side}`);
	t.deepEqual(sides.toSorted(), ['bridge client', 'bridge upstream', 'client client', 'files upstream']);
});

test('fails pending and later requests after the server has exited', t => {
	const ends = start(t);
	const {client, upstream} = ends;
	completeHandshake(ends);
	client.send({id: 1, method: 'a'});
	client.send({id: 2, method: 'b'});
	upstream.end(
		new BridgeError('ERR_CHILD_EXITED', 'files exited with code 3.', 'Start it again.', {exitCode: 3}),
	);
	client.send({id: 3, method: 'c'});
	client.sendText('hello');
	t.like(client.received, [
		{id: 1, error: {code: -31_004, data: {exitCode: 3}}},
		{id: 2, error: {code: -31_004}},
		{id: 3, error: {code: -31_004}},
		{id: null, error: {code: -32_700}},
	]);
	t.is(upstream.received.length, 2);
});

test('drops output of a server that is not a message', async t => {
	const ends = start(t);
	const {client, upstream, entries} = ends;
	completeHandshake(ends);
	client.send({id: 1, method: 'a'});
	upstream.sendText('Debugger attached.');
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, result: {}}]);
	t.like((await entries()).slice(1), [{event: 'child.stdout.garbage'}]);
	t.is((await entries()).length, 2);
});

test('works without a trace and a traffic log', t => {
	const {log} = readableLog();
	const ends = converse(...wrapStages({log, upstream: 'files', transport: 'stdio', timeoutMs: 0}));
	const {client, upstream} = ends;
	completeHandshake(ends);
	client.send({id: 1, method: 'a'});
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, result: {}}]);
});

test('splits a batch of the server for every client', t => {
	for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
		const ends = start(t);
		const {client, upstream} = ends;
		completeHandshake(ends, version);
		client.send({id: 1, method: 'a'});
		client.send({id: 2, method: 'b'});
		const texts = [
			'{"jsonrpc":"2.0","id":2,"result":{}}',
			'{"jsonrpc":"2.0","method":"n", "params":{"x":1.0}}',
		];
		upstream.sendText(`[ ${texts.join(' , ')}, 7, {"jsonrpc":"2.0","id":1,"result":{}} ]`);
		t.deepEqual(client.receivedTexts, [...texts, '{"jsonrpc":"2.0","id":1,"result":{}}'], version);
	}
});

test('responds to a batch of a 2025-03-26 client with one batch, also if the server exits', t => {
	const ends = start(t);
	const {client, upstream} = ends;
	completeHandshake(ends, '2025-03-26');
	client.sendText('[{"jsonrpc":"2.0","id":1,"method":"a"},7,{"jsonrpc":"2.0","id":2,"method":"b"}]');
	upstream.send({id: 2, result: {}});
	t.deepEqual(client.received, []);
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.'));
	const [responses = []] = client.received as unknown as Message[][];
	t.like(responses[0], {id: null, error: {code: -32_600}});
	t.like(responses[1], {id: 2, result: {}});
	t.like(responses[2], {id: 1, error: {code: -31_004}});
	t.is(responses.length, 3);
	t.is(client.received.length, 1);
});

test('completes the connection to the server when the client disconnects', t => {
	const {log} = readableLog();
	const {client, upstream} = converse(
		...wrapStages({log, upstream: 'files', transport: 'stdio', timeoutMs: 0}),
	);
	let isComplete = false;
	(upstream.outgoing as unknown as {subscribe(observer: {complete(): void}): void}).subscribe({
		complete() {
			isComplete = true;
		},
	});
	client.end();
	t.true(isComplete);
});
