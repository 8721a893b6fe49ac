import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {Envelope} from '../../lib/core/envelope.js';
import {perMessage, type Stage} from '../../lib/core/stage.js';
import {parse} from '../../lib/operators/parse.js';
import {recordMessages} from '../../lib/traffic-log/record-messages.js';
import {TrafficLog} from '../../lib/traffic-log/traffic-log.js';
import {converse, readableLog} from '../helpers/pipeline.js';
import {readLog, tempFolder} from '../helpers/temp-folder.js';
import {piecesOf} from '../wire/cutting.js';

/** A conversation with a tap at either end of these stages, and its log. */
const start = (t: ExecutionContext, stages: readonly Stage[] = [], withSecrets = false) => {
	const file = join(tempFolder(t), 'traffic.ndjson');
	const log = new TrafficLog({destination: {file}});
	const taps = recordMessages({log, client: 'client', upstream: 'files', withSecrets});
	const lines = async () => {
		await log.close();
		return readLog(file).slice(1);
	};
	return {...converse(taps.client, ...stages, taps.upstream), taps, lines, file, log};
};

const rejectingStages = (): Stage[] => {
	const {log} = readableLog();
	return [parse({log, maxBytes: 1000, from: 'client'}), parse({log, maxBytes: 1000, from: 'upstream'})];
};

const renaming = perMessage({
	toUpstream: envelope => envelope.with({...envelope.body, method: 'renamed'}),
	toClient: envelope => envelope.with({...envelope.body, result: 'changed'}),
});

test('starts with the endpoints and a connection id of eight characters', async t => {
	const {log, file} = start(t);
	await log.close();
	const [open] = readLog(file);
	t.deepEqual(Object.keys(open ?? {}), ['time', 'ConnID', 'event', 'from', 'to']);
	t.like(open, {event: 'open', from: 'client', to: 'files'});
	t.regex(open?.time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
	t.regex(String(open?.ConnID), /^[0-9A-Za-z]{8}$/);
});

for (const [by, from, to] of [
	['client', 'client', 'files'],
	['upstream', 'files', 'client'],
] as const)
	test(`ends the log with the side that closed the conversation: ${by}`, async t => {
		const {taps, lines} = start(t);
		taps.closed(by);
		t.like(await lines(), [{event: 'close', from, to}]);
	});

for (const withSecrets of [false, true])
	test(`logs a message that arrived in parts ${withSecrets ? 'unredacted' : 'without its secrets'}`, async t => {
		const {client, file, log} = start(t, [], withSecrets);
		const text = '{"jsonrpc":"2.0","method":"a","params":{"token":"canary","text":"é"}}';
		const cuts = [2, 40, Buffer.byteLength(text)];
		client.sayEnvelope(Envelope.receivedInParts(piecesOf(Buffer.from(`${text}\n`), cuts), client.origin));
		await log.close();
		const expected = withSecrets ? text : text.replace('canary', '[redacted]');
		t.true(readFileSync(file, 'utf8').includes(`"message":${expected},"from":"client"`));
	});

test('logs an unchanged message once, as the client sees it', async t => {
	const {client, upstream, lines} = start(t);
	client.send({id: 1, method: 'ping'});
	upstream.send({id: 1, result: {}});
	const [request, response, ...rest] = await lines();
	t.deepEqual(Object.keys(request ?? {}), ['time', 'ConnID', 'message', 'from', 'to', 'side']);
	t.like(request, {
		message: {jsonrpc: '2.0', id: 1, method: 'ping'},
		from: 'client',
		to: 'files',
		side: 'client',
	});
	t.like(response, {
		message: {jsonrpc: '2.0', id: 1, result: {}},
		from: 'files',
		to: 'client',
		side: 'client',
	});
	t.deepEqual(rest, []);
});

test('logs a changed message on both sides, in order', async t => {
	const {client, upstream, lines} = start(t, [renaming]);
	client.send({id: 1, method: 'ping'});
	upstream.send({id: 1, result: 'old'});
	t.like(await lines(), [
		{message: {method: 'ping'}, from: 'client', to: 'files', side: 'client'},
		{message: {method: 'renamed'}, from: 'client', to: 'files', side: 'upstream'},
		{message: {result: 'old'}, from: 'files', to: 'client', side: 'upstream'},
		{message: {result: 'changed'}, from: 'files', to: 'client', side: 'client'},
	]);
});

test('logs a dropped message on the side that received it', async t => {
	const dropping = perMessage({toUpstream: () => undefined, toClient: () => undefined});
	const {client, upstream, lines} = start(t, [dropping]);
	client.send({method: 'a'});
	upstream.send({method: 'b'});
	t.like(await lines(), [
		{message: {method: 'a'}, side: 'client'},
		{message: {method: 'b'}, from: 'files', to: 'client', side: 'upstream'},
	]);
});

test('logs a message that a stage created as sent by bridge', async t => {
	const creating = perMessage({
		toUpstream(envelope, reply) {
			reply(Envelope.of({jsonrpc: '2.0', id: 1, result: 'own'}));
			return envelope;
		},
		toClient(envelope, reply) {
			reply(Envelope.of({jsonrpc: '2.0', method: 'own'}));
			return envelope;
		},
	});
	const {client, upstream, lines} = start(t, [creating]);
	client.send({id: 1, method: 'a'});
	upstream.send({method: 'b'});
	const log = await lines();
	t.like(
		log.find(({message}) => (message as {result?: string}).result === 'own'),
		{from: 'bridge', to: 'client', side: 'client'},
	);
	t.like(
		log.find(({message}) => (message as {method?: string}).method === 'own'),
		{from: 'bridge', to: 'files', side: 'upstream'},
	);
	t.is(log.length, 4);
});

test('logs a message that one stage created and another changed as sent by bridge', async t => {
	const responding = perMessage({
		toUpstream(_, reply) {
			reply(Envelope.response('1', 'result', {}));
			return undefined;
		},
	});
	const {client, lines} = start(t, [renaming, responding]);
	client.send({id: 1, method: 'ping'});
	t.like(await lines(), {
		0: {side: 'client', from: 'client'},
		1: {side: 'client', from: 'bridge', message: {result: 'changed'}},
		length: 2,
	});
});

test('logs an invalid message as percent-encoded bytes', async t => {
	const {client, lines} = start(t, rejectingStages());
	client.sayBytes(Buffer.from('50%\t"\xff"\n', 'latin1'));
	const [data, rejection, ...rest] = await lines();
	t.deepEqual(Object.keys(data ?? {}), ['time', 'ConnID', 'data', 'from', 'to', 'side']);
	t.like(data, {data: '50%25\t"%FF"', from: 'client', to: 'files', side: 'client'});
	t.like(rejection, {message: {error: {code: -32_700}}, from: 'bridge', to: 'client', side: 'client'});
	t.deepEqual(rest, []);
});

test('logs the noise of an upstream on the upstream side', async t => {
	const {upstream, lines} = start(t, rejectingStages());
	upstream.sendText('listening on 80');
	t.like(await lines(), [{data: 'listening on 80', from: 'files', to: 'client', side: 'upstream'}]);
});

test('marks truncated bytes', async t => {
	const {client, upstream, lines} = start(t, rejectingStages());
	client.sendText('x'.repeat(100_000));
	upstream.sayEnvelope(
		Envelope.tooLarge(Buffer.from('{"id":1'), {id: '1', isResponse: true}, upstream.origin),
	);
	const log = await lines();
	t.is(String(log[0]?.data).length, 65_536);
	t.true(log[0]?.truncated);
	t.like(
		log.find(({side}) => side === 'upstream'),
		{data: '{"id":1', truncated: true},
	);
	t.like(log.at(-2)?.side === 'client' ? log.at(-2) : log.at(-1), {
		message: {error: {code: -31_007}},
		from: 'bridge',
	});
});

test('redacts secrets in messages on both sides', async t => {
	const {client, upstream, lines} = start(t, [renaming]);
	client.send({id: 1, method: 'a', params: {password: 'hunter2', path: '/', _meta: {progressToken: 5}}});
	upstream.send({id: 1, token: {deep: 'hunter2'}, result: {}});
	const log = await lines();
	t.is(log.length, 4);
	t.false(JSON.stringify(log).includes('hunter2'));
	t.like(log[0], {message: {params: {password: '[redacted]', path: '/', _meta: {progressToken: 5}}}});
});

test('forwards secrets unredacted', t => {
	const {client, upstream} = start(t);
	client.send({id: 1, method: 'a', params: {password: 'hunter2'}});
	t.like(upstream.received, [{params: {password: 'hunter2'}}]);
});

for (const [what, text] of [
	['in a message that is rejected', '{"id":1,"method":"a","params":{"password":"hunter2"}}'],
	['in half a message', '{"id":1,"params":{"password":"hunter2"'],
	['in an unterminated string', '{"id":1,"params":{"password":"correct hunter2'],
	['in an unterminated array', '{"id":1,"params":{"password": [ "hunter2", '],
	['under an escaped key', String.raw`{"id":1,"params":{"pass\u0077ord":"hunter2"}`],
	['in a header', 'Authorization: Bearer hunter2'],
] as const)
	test(`redacts a secret ${what}`, async t => {
		const {client, lines} = start(t, rejectingStages());
		client.sendText(text);
		const log = await lines();
		t.is(log.length, 2);
		t.false(JSON.stringify(log).includes('hunter2'));
	});

test('keeps a progressToken in a message that is rejected', async t => {
	const {client, lines} = start(t, rejectingStages());
	client.sendText('{"id":1,"method":"a","params":{"_meta":{"progressToken":"five"}}}');
	t.regex(String((await lines())[0]?.data), /"progressToken":"five"/);
});

test('logs secrets unredacted with withSecrets', async t => {
	const {client, lines} = start(t, rejectingStages(), true);
	client.send({id: 1, method: 'a', params: {password: 'hunter2'}});
	client.sendText('password=hunter2');
	t.like(await lines(), [{message: {params: {password: 'hunter2'}}}, {data: 'password=hunter2'}]);
});

test('preserves names that are not ASCII', async t => {
	const file = join(tempFolder(t), 'traffic.ndjson');
	const log = new TrafficLog({destination: {file}});
	recordMessages({log, client: 'клиент', upstream: 'a"😀\n', withSecrets: false});
	await log.close();
	t.like(readLog(file), [{from: 'клиент', to: 'a"😀\n'}]);
});

test('gives each conversation a unique id', async t => {
	const file = join(tempFolder(t), 'traffic.ndjson');
	const log = new TrafficLog({destination: {file}});
	for (let count = 0; count < 3; count++)
		recordMessages({log, client: 'a', upstream: 'b', withSecrets: false});
	await log.close();
	t.is(new Set(readLog(file).map(({ConnID}) => ConnID)).size, 3);
});
