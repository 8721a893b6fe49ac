import {join} from 'node:path';
import test from 'ava';
import {recordMessages} from '../../lib/traffic-log/record-messages.js';
import {TrafficLog} from '../../lib/traffic-log/traffic-log.js';
import {filterStages} from '../../pipelines/filter.js';
import {converse, readableLog} from '../helpers/pipeline.js';
import {readLog, tempFolder} from '../helpers/temp-folder.js';

test('forwards messages of every kind byte for byte', async t => {
	const {log, entries} = readableLog();
	const {client, upstream} = converse(...filterStages({log}));
	const texts = [
		'{"jsonrpc":"2.0","id":1,"method":"a"}',
		'{"jsonrpc":"2.0","id":1,"method":"a"}',
		' {"jsonrpc":"2.0","id":7,"result": {}}',
		'{"jsonrpc":"2.0","method":"notifications/x"}',
	];
	for (const text of texts) client.sendText(text);
	t.deepEqual(upstream.receivedTexts, texts);
	t.deepEqual(await entries(), []);
});

test('drops an invalid message with a warning', async t => {
	const {log, entries} = readableLog();
	const {client, upstream} = converse(...filterStages({log}));
	client.sendText('Server listening on 80');
	client.send({method: 'next'});
	t.like(upstream.received, [{method: 'next'}]);
	t.is(upstream.received.length, 1);
	const [entry, ...rest] = await entries();
	t.like(entry, {level: 40, start: 'Server listening on 80'});
	t.deepEqual(rest, []);
});

test('shows the latency of a response to a request that passed the same filter', t => {
	const shown: string[] = [];
	const {log} = readableLog();
	const trace = {write: (line: string) => void shown.push(line), hasColor: false};
	const {client} = converse(...filterStages({log, trace}));
	client.send({id: 1, method: 'ping'});
	client.send({id: 1, result: {}});
	client.send({id: 2, result: {}});
	t.regex(shown[1] ?? '', /→ ping .* ms\n$/);
	t.regex(shown[2] ?? '', /→ result .* B\n$/);
});

test('records forwarded messages, and invalid ones as bytes', async t => {
	const file = join(tempFolder(t), 'traffic.ndjson');
	const traffic = new TrafficLog({destination: {file}});
	const {log} = readableLog();
	const taps = recordMessages({log: traffic, client: 'stdin', upstream: 'stdout', withSecrets: false});
	const {client} = converse(...filterStages({log, taps}));
	client.send({id: 1, method: 'ping', params: {token: 'x'}});
	client.sendText('hello');
	await traffic.close();
	const lines = readLog(file).filter(({from}) => from === 'stdin');
	t.like(lines, [
		{event: 'open', to: 'stdout'},
		{message: {method: 'ping', params: {token: '[redacted]'}}, to: 'stdout', side: 'client'},
		{data: 'hello', side: 'client'},
	]);
});
