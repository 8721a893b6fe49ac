import test from 'ava';
import {wrapStages} from '../../pipelines/wrap.js';
import {converse, readableLog} from '../helpers/pipeline.js';
import {answerHandshake, envelope, lastOf} from '../helpers/version-stages.js';
import {STATELESS as MODERN, takeReceived as news} from '../operators/stateless-support.js';

/** A stateless client that sent `server/discover` to a server of this version through `wrapStages`. */
function start(server: string) {
	const {log, entries} = readableLog();
	const pair = converse(...wrapStages({log, upstream: 'files', transport: 'stdio', timeoutMs: 60_000}));
	pair.client.send({id: 'pre', method: 'server/discover', params: {_meta: envelope()}});
	answerHandshake({...pair} as Parameters<typeof answerHandshake>[0], server);
	return {...pair, entries};
}

const meta = JSON.stringify(envelope());

test('forwards the first request of a stateless client to a stateless server unchanged', t => {
	const {upstream} = start(MODERN);
	t.deepEqual(lastOf(upstream), {
		jsonrpc: '2.0',
		id: 'pre',
		method: 'server/discover',
		params: {_meta: envelope()},
	});
	t.deepEqual(
		upstream.received.map(({method}) => method),
		['initialize', 'server/discover', 'server/discover'],
	);
});

test('forwards all bytes unchanged between a stateless client and a stateless server', t => {
	const {client, upstream} = start(MODERN);
	for (const side of [client, upstream]) news(side);
	const up = [
		`{ "jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"x","task":1.0,"_meta":${meta}}}`,
		`{ "jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{},"_meta":${meta}}}`,
		`{ "jsonrpc":"2.0","id":2.0,"method":"tools/list","params":{"_meta":${meta}}}`,
		`{ "jsonrpc":"2.0","id":3,"method":"tools/call","params":{"requestState":"s","inputResponses":{"a":1e5},"_meta":${meta}}}`,
		'{ "jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L"}}',
	];
	for (const text of up) client.sendText(text);
	t.deepEqual(upstream.receivedTexts, up);
	const down = [
		'{ "jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}}}',
		'{ "jsonrpc":"2.0","id":9007199254740993,"result":{"resultType":"input_required","requestState":"s"}}',
		'{ "jsonrpc":"2.0","id":2.0,"result":{"resultType":"complete","ttlMs":1.0,"tools":[{"name":"x","outputSchema":true}]}}',
		'{ "jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"no"}}',
		'{ "jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug"}}',
	];
	for (const text of down) upstream.sendText(text);
	t.deepEqual(client.receivedTexts, down);
});

test('responds to a stateless client of a handshake server in the version of the client', t => {
	const {client} = start('2025-03-26');
	t.like(news(client), [{id: 'pre', result: {resultType: 'complete', supportedVersions: [MODERN]}}]);
});

test('logs the versions of both sides', async t => {
	const {entries} = start(MODERN);
	const [connected] = (await entries()).filter(({event}) => event === 'proxy.connect');
	t.like(connected, {era: 'modern', version: MODERN, clientVersion: MODERN, serverName: 'ExampleServer'});
	t.false((await entries()).some(({event}) => event === 'proxy.outlook'));
});
