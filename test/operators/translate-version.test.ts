import test from 'ava';
import type {Envelope} from '../../lib/core/envelope.js';
import {objectOf} from '../../lib/util/json.js';
import {lastOf, type Pair} from '../helpers/version-stages.js';
import {ready, takeReceived} from './stateless-support.js';

const BIG = '9007199254740993';
/** The id of the last request upstream. For uncommon ids, bridge generates its own. */
const lastId = ({received}: {readonly received: ReadonlyArray<{readonly id?: unknown}>}): string =>
	JSON.stringify(received.at(-1)?.id);
const numbers = `[1.0,${BIG},1e400,-0,1E5]`;

/** A client of the first version with a newer upstream. */
const oldClient = (server = '2025-11-25', more = {}): Pair => ready({client: '2024-11-05', server, ...more});
/** A client of the newest handshake version with an upstream of the first version. */
const oldUpstream = (): Pair => ready({client: '2025-11-25', server: '2024-11-05'});

/** The envelopes that a side receives. */
function delivered({outgoing}: Pair['client']): Envelope[] {
	const envelopes: Envelope[] = [];
	(outgoing as unknown as {subscribe(next: (envelope: Envelope) => void): void}).subscribe(envelope =>
		envelopes.push(envelope),
	);
	return envelopes;
}

const link = {type: 'resource_link', uri: 'a:', name: 'n'};

test('forwards an unchanged message as received, in both directions', t => {
	const {client, upstream} = oldClient();
	const [up, down] = [delivered(upstream), delivered(client)];
	client.sendText(`{ "jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${numbers}}}`);
	upstream.sendText(
		`{ "jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"n":${numbers}}}`,
	);
	upstream.sendText('{ "jsonrpc":"2.0","id":2,"method":"roots/list"}');
	client.sendText('{ "jsonrpc":"2.0","id":2,"result":{"roots":[]}}');
	upstream.sendText('{ "jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.0}}');
	t.deepEqual(
		[...up, ...down].map(({isReceived}) => isReceived),
		[true, true, true, true, true],
	);
});

test('preserves the numbers and the id of a translated result', t => {
	const {client, upstream} = oldClient();
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{}}`);
	const rest = `"structuredContent":{"n":${numbers}}`;
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${lastId(upstream)},"result":{"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"text","text":"a"}],${rest}}}`,
	);
	const [text = ''] = client.receivedTexts;
	t.true(text.startsWith(`{"jsonrpc":"2.0","id":${BIG},`));
	t.true(text.includes(rest));
	t.regex(text, /bridge:\/\/content\/[^/]+\/0/);
});

test('preserves the numbers and the id of a translated request', t => {
	const {client, upstream} = oldUpstream();
	client.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"name":"x","task":{"ttl":1},"arguments":${numbers}}}`,
	);
	t.deepEqual(upstream.receivedTexts, [
		`{"jsonrpc":"2.0","id":${lastId(upstream)},"method":"tools/call","params":{"name":"x","arguments":${numbers}}}`,
	]);
});

test('responds to a translated server request with its id above 2^53', t => {
	const {client, upstream} = ready({
		client: '2025-06-18',
		server: '2025-11-25',
		clientCapabilities: {elicitation: {}},
	});
	const properties = '{"c":{"type":"array","items":{"enum":["a","b"]}},"n":{"type":"number","maximum":1E5}}';
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":${properties}}}}`,
	);
	t.true(client.receivedTexts[0]?.includes(`"id":${BIG},`));
	t.true(client.receivedTexts[0]?.includes('"maximum":1E5'));
	client.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"result":{"action":"accept","content":{"c[a]":true,"c[b]":false,"n":1.0}}}`,
	);
	t.deepEqual(upstream.receivedTexts, [
		`{"jsonrpc":"2.0","id":${BIG},"result":{"action":"accept","content":{"n":1.0,"c":["a"]}}}`,
	]);
});

test('rejects a server request with its exact id, without a message to the client', t => {
	const {client, upstream} = oldClient();
	upstream.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"elicitation/create","params":{"message":"m"}}`);
	t.true(upstream.receivedTexts[0]?.startsWith(`{"jsonrpc":"2.0","id":${BIG},"error":{"code":-32601,`));
	t.deepEqual(client.received, []);
});

test('rejects a client request that the upstream version does not define', t => {
	const {client, upstream} = oldUpstream();
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tasks/get","params":{"taskId":"T"}}`);
	t.true(client.receivedTexts[0]?.startsWith(`{"jsonrpc":"2.0","id":${BIG},"error":{"code":-32601,`));
	t.deepEqual(upstream.received, []);
});

test('preserves the id of an error that becomes a result', t => {
	const pair = ready({client: '2025-11-25', server: '2024-11-05', serverCapabilities: {prompts: {}}});
	pair.client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"completion/complete","params":{}}`);
	pair.upstream.sendText(
		`{"jsonrpc":"2.0","id":${lastId(pair.upstream)},"error":{"code":-32601,"message":"no"}}`,
	);
	t.deepEqual(pair.client.receivedTexts, [
		`{"jsonrpc":"2.0","id":${BIG},"result":{"completion":{"values":[]}}}`,
	]);
});

test('forwards an error for completions if they are declared or the code differs', t => {
	for (const [capabilities, code] of [
		[{prompts: {}, completions: {}}, -32601],
		[{prompts: {}}, -32602],
		[{}, -32601],
	] as const) {
		const pair = ready({client: '2025-11-25', server: '2024-11-05', serverCapabilities: capabilities});
		pair.client.send({id: 1, method: 'completion/complete', params: {}});
		pair.upstream.send({id: 1, error: {code, message: 'no'}});
		t.like(takeReceived(pair.client), [{id: 1, error: {code}}]);
	}
});

for (const size of ['120.0', '1.2e2', BIG])
	test(`accepts any notation of the size of a resource link: ${size}`, t => {
		const {client, upstream} = oldClient();
		client.send({id: 1, method: 'tools/call', params: {}});
		upstream.sendText(
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource_link","uri":"a:","name":"n","size":${size}}]}}`,
		);
		t.regex(client.receivedTexts[0] ?? '', /"text":"\[n\]\(a:\) [\d.e]+ bytes"/);
	});

for (const [kind, content] of [
	['structured output without text', '"content":[],"structuredContent":{"degrees":21.0}'],
	['content of an unknown type', '"content":[{"type":"video","degrees":21.0}]'],
])
	test(`preserves the numbers of ${kind} in its text`, t => {
		const {client, upstream} = oldClient();
		client.send({id: 1, method: 'tools/call', params: {}});
		upstream.sendText(`{"jsonrpc":"2.0","id":1,"result":{${content}}}`);
		const {content: blocks} = objectOf(lastOf(client).result) as {content?: Array<{text: string}>};
		t.regex(blocks?.[0]?.text ?? '', /"degrees":21/);
	});

test('logs each lost feature once, and the counts at the end', async t => {
	const pair = oldClient();
	for (const id of [1, 2, 3]) {
		pair.client.send({id, method: 'tools/call', params: {}});
		pair.upstream.send({id, result: {content: [link, link]}});
	}
	pair.upstream.send({id: 's', method: 'elicitation/create', params: {}});
	const warnings = (await pair.entries()).filter(({event}) => event === 'proxy.feature.lost');
	t.deepEqual(
		warnings.map(({feature}) => feature),
		['links to resources', 'elicitation'],
	);
	t.like(warnings[0], {server: 'files', version: '2025-11-25', clientVersion: '2024-11-05'});
	pair.upstream.end();
	const [end] = (await pair.entries()).filter(({event}) => event === 'proxy.features.lost');
	t.deepEqual(end?.features, {'links to resources': 6, elicitation: 1});
});

test('logs nothing if no feature was lost', async t => {
	const pair = oldClient();
	pair.client.end();
	t.false((await pair.entries()).some(({event}) => /features?\.lost/.test(event)));
});

test('drops messages that an older peer does not support', async t => {
	const pair = oldClient();
	pair.upstream.send({error: {code: -32700, message: 'no'}});
	pair.upstream.send({method: 'notifications/tasks/status', params: {}});
	t.deepEqual(pair.client.received, []);
	t.is((await pair.entries()).filter(({event}) => event === 'rpc.dropped').length, 2);
});

test('removes unknown members only in strict mode', t => {
	const tool = {
		name: 'x',
		title: 'X',
		inputSchema: {type: 'object'},
		outputSchema: {type: 'object'},
		icons: [],
	};
	for (const isStrict of [true, false]) {
		const pair = ready({client: '2024-11-05', server: '2025-11-25'}, {isStrict});
		pair.client.send({id: 1, method: 'tools/list'});
		pair.upstream.send({id: 1, result: {tools: [tool]}});
		const {name, inputSchema} = tool;
		t.deepEqual(objectOf(lastOf(pair.client).result).tools, [isStrict ? {name, inputSchema} : tool]);
	}
});

test('does not translate between equal versions, except for an unknown upstream version', t => {
	for (const [server, isSame] of [
		['2025-11-25', true],
		['2025-12-01', false],
	] as const) {
		const {client, upstream} = ready({client: '2025-11-25', server});
		client.send({id: 1, method: 'tools/list'});
		const text = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x"}]}}';
		upstream.sendText(text);
		t.is(client.receivedTexts[0] === text, isSame);
	}
});
