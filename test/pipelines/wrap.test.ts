import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {BridgeError} from '../../lib/errors.js';
import {record} from '../../lib/operators/record.js';
import {TrafficLog} from '../../lib/store/traffic-log.js';
import {wrap} from '../../pipelines/wrap.js';
import {converse, readableLog, until} from '../operators/support.js';
import {readLog, tempFolder} from '../store/temp-folder.js';

const start = (t: ExecutionContext, timeoutMs = 60_000) => {
	const file = join(tempFolder(t), 'traffic.ndjson');
	const traffic = new TrafficLog({destination: {file}});
	const shown: string[] = [];
	const {log, entries} = readableLog();
	const taps = record({log: traffic, client: 'client', upstream: 'files', withSecrets: false});
	const trace = {write: (line: string) => void shown.push(line), hasColour: false};
	const logged = async () => {
		await traffic.close();
		return readLog(file);
	};
	return {
		...converse(...wrap({log, upstream: 'files', transport: 'stdio', timeoutMs, trace, taps})),
		shown,
		entries,
		logged,
	};
};

test('carries a whole conversation byte for byte, shown and logged once', async t => {
	const {client, upstream, shown, logged, entries} = start(t);
	const said: Array<[from: 'client' | 'upstream', text: string]> = [
		['client', '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'],
		['upstream', '{"result":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0}'],
		['client', '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
		[
			'client',
			'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"read","arguments":{"n":1.0}}}',
		],
		['upstream', '{"jsonrpc":"2.0","id":1,"method":"roots/list"}'],
		['client', '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}'],
		['upstream', '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a"}}'],
		['upstream', '{"jsonrpc":"2.0","id":"a","result": {"content":[]} }'],
	];
	for (const [from, text] of said) (from === 'client' ? client : upstream).sayText(text);
	const by = (side: string) => said.filter(([from]) => from === side).map(([, text]) => text);
	t.deepEqual(upstream.heardTexts, by('client'));
	t.deepEqual(client.heardTexts, by('upstream'));
	t.is(shown.length, said.length);
	const [, ...lines] = await logged();
	t.deepEqual(
		lines.map(({message}) => message),
		said.map(([, text]) => JSON.parse(text)),
	);
	t.true(lines.every(({side}) => side === 'client'));
	t.deepEqual(await entries(), []);
});

test('answers what is no message, shows it and logs it, and lets the server hear nothing of it', async t => {
	const {client, upstream, shown, logged} = start(t);
	client.sayText('hello');
	t.like(client.heard, [{id: null, error: {code: -32_700}}]);
	t.deepEqual(upstream.heard, []);
	t.is(shown.length, 2);
	t.regex(shown[0] ?? '', /→ not JSON/);
	t.like(await logged(), [
		{event: 'open'},
		{data: 'hello', side: 'client'},
		{from: 'bridge', side: 'client'},
	]);
});

test('fails what the server does not answer in time, tells it, and drops what comes late', async t => {
	const {client, upstream, logged, entries} = start(t, 5);
	client.say({id: 1, method: 'slow'});
	await until(() => client.heard.length > 0);
	upstream.say({id: 1, result: {}});
	t.like(client.heard, [{id: 1, error: {code: -31_002}}]);
	t.is(client.heard.length, 1);
	t.like(upstream.heard[1], {method: 'notifications/cancelled', params: {requestId: 1}});
	t.like((await entries())[0], {event: 'rpc.orphan_response'});
	const sides = (await logged()).slice(1).map(({from, side}) => `${from} ${side}`);
	t.deepEqual(sides.toSorted(), ['bridge client', 'bridge upstream', 'client client', 'files upstream']);
});

test('answers all requests, those in flight and later ones, when the server died', t => {
	const {client, upstream} = start(t);
	client.say({id: 1, method: 'a'});
	client.say({id: 2, method: 'b'});
	upstream.end(
		new BridgeError('ERR_CHILD_EXITED', 'files exited with code 3.', 'Start it again.', {exitCode: 3}),
	);
	client.say({id: 3, method: 'c'});
	client.sayText('hello');
	t.like(client.heard, [
		{id: 1, error: {code: -31_004, data: {exitCode: 3}}},
		{id: 2, error: {code: -31_004}},
		{id: 3, error: {code: -31_004}},
		{id: null, error: {code: -32_700}},
	]);
	t.is(upstream.heard.length, 2);
});

test('drops the noise of a server and goes on', async t => {
	const {client, upstream, entries} = start(t);
	client.say({id: 1, method: 'a'});
	upstream.sayText('Debugger attached.');
	upstream.say({id: 1, result: {}});
	t.like(client.heard, [{id: 1, result: {}}]);
	t.like(await entries(), [{event: 'child.stdout.garbage'}]);
});

test('works without anybody looking on', t => {
	const {log} = readableLog();
	const {client, upstream} = converse(...wrap({log, upstream: 'files', transport: 'stdio', timeoutMs: 0}));
	client.say({id: 1, method: 'a'});
	upstream.say({id: 1, result: {}});
	t.like(client.heard, [{id: 1, result: {}}]);
});

test('ends the conversation towards the server when the client is gone', t => {
	const {log} = readableLog();
	const {client, upstream} = converse(...wrap({log, upstream: 'files', transport: 'stdio', timeoutMs: 0}));
	let isOver = false;
	(upstream.outgoing as unknown as {subscribe(observer: {complete(): void}): void}).subscribe({
		complete() {
			isOver = true;
		},
	});
	client.end();
	t.true(isOver);
});
