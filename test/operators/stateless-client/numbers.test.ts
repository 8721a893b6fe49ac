import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {envelope} from '../../helpers/version-stages.js';
import {
	inputRequired,
	ready,
	requiredInput,
	retry,
	STATELESS,
	sendRequest,
	serverRequest,
	statelessClientPair,
	statelessUpstreamPair,
	takeReceived,
	textResult,
} from '../stateless-support.js';

/* Numbers and numeric ids that a JSON parser would change, in messages that are rewritten between the eras. */

const BIG = '9007199254740993';
const numbers = `[1.0,${BIG},1e400,-0]`;
/** The id of the last request upstream. For uncommon ids, bridge generates its own. */
const lastId = ({received}: {readonly received: ReadonlyArray<{readonly id?: unknown}>}): string =>
	JSON.stringify(received.at(-1)?.id);
const meta = JSON.stringify(envelope({elicitation: {}, sampling: {}}));

test('preserves the numbers of a request of a stateless client', t => {
	const {client, upstream} = statelessClientPair();
	client.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta},"name":"x","arguments":${numbers}}}`,
	);
	t.deepEqual(upstream.receivedTexts, [
		`{"jsonrpc":"2.0","id":${lastId(upstream)},"method":"tools/call","params":{"name":"x","arguments":${numbers}}}`,
	]);
});

test('preserves the numbers and the id of a result for a stateless client', t => {
	const {client, upstream} = statelessClientPair();
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta}}}`);
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${lastId(upstream)},"result":{"content":[],"structuredContent":{"n":${numbers}}}}`,
	);
	t.true(client.receivedTexts[0]?.startsWith(`{"jsonrpc":"2.0","id":${BIG},"result":`));
	t.true(client.receivedTexts[0]?.includes(`"structuredContent":{"n":${numbers}}`));
});

test('preserves a large id in a result that requires input', t => {
	const {client, upstream} = statelessClientPair();
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta}}}`);
	upstream.send(serverRequest('s'));
	t.true(client.receivedTexts[0]?.includes(`"id":${BIG},`));
});

test('preserves the large id of a server request', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"elicitation/create","params":{"message":"?"}}`,
	);
	t.deepEqual(Object.keys(requiredInput(pair).requests), [BIG]);
	takeReceived(pair.upstream);
	retry(pair, 2, requiredInput(pair).state, {[BIG]: {action: 'decline'}});
	t.deepEqual(pair.upstream.receivedTexts, [`{"jsonrpc":"2.0","id":${BIG},"result":{"action":"decline"}}`]);
});

test('cancels a retried call with a large id by its upstream id', t => {
	const pair = statelessClientPair();
	pair.client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta}}}`);
	const id = lastId(pair.upstream);
	pair.upstream.send(serverRequest('s'));
	retry(pair, 2, requiredInput(pair).state, {s: {action: 'decline'}});
	takeReceived(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	t.true(pair.upstream.receivedTexts[0]?.includes(`"requestId":${id}`));
});

test('preserves the numbers of a server request of a handshake upstream', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {capabilities: {sampling: {}}});
	pair.upstream.sendText(
		`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":${numbers}}}`,
	);
	t.true(pair.client.receivedTexts[0]?.includes(`"messages":${numbers}`));
});

test('preserves the numbers of the input of a stateless client', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('s'));
	const state = JSON.stringify(requiredInput(pair).state);
	takeReceived(pair.upstream);
	pair.client.sendText(
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":${meta},"requestState":${state},"inputResponses":{"s":{"action":"accept","content":{"n":${numbers}}}}}}`,
	);
	t.true(pair.upstream.receivedTexts[0]?.includes(`"content":{"n":${numbers}}`));
});

test('preserves the numbers of a request of a handshake client and of its result', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"name":"x","arguments":${numbers}}}`,
	);
	t.true(upstream.receivedTexts[0]?.includes(`"arguments":${numbers}`));
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${lastId(upstream)},"result":{"resultType":"complete","content":[],"structuredContent":{"n":${numbers}}}}`,
	);
	t.deepEqual(client.receivedTexts, [
		`{"jsonrpc":"2.0","id":${BIG},"result":{"content":[],"structuredContent":{"n":${numbers}}}}`,
	]);
});

test('preserves the numbers of a retried call of a handshake client', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.sendText(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${numbers}}}`,
	);
	takeReceived(upstream);
	upstream.send(inputRequired(1, undefined, 'state'));
	t.true(upstream.receivedTexts[0]?.includes(`"arguments":${numbers}`));
});

test('preserves the numbers of the input of a handshake client', t => {
	const {client, upstream} = statelessUpstreamPair({clientCapabilities: {elicitation: {}}});
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	takeReceived(upstream);
	upstream.send(inputRequired(1, {who: {method: 'elicitation/create', params: {}}}));
	const id = JSON.stringify(client.received.at(-1)?.id);
	client.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"action":"accept","content":{"n":${numbers}}}}`);
	t.true(upstream.receivedTexts[0]?.includes(`"content":{"n":${numbers}}`));
});

test('wraps output for a handshake client with an equal text block', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.sendText(
		'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"structuredContent":[21.0]}}',
	);
	const {content} = objectOf(client.received.at(-1)?.result) as {content?: Array<{text: string}>};
	t.deepEqual(JSON.parse(content?.[0]?.text ?? ''), [21]);
});

test('preserves the exact id in the response to a retried call', t => {
	const {client, upstream} = ready({client: '2025-11-25', server: STATELESS});
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"name":"x"}}`);
	upstream.send(inputRequired(upstream.received.at(-1)?.id, undefined, 'state'));
	upstream.send({id: upstream.received.at(-1)?.id, result: {resultType: 'complete', ...textResult('a')}});
	t.deepEqual(client.receivedTexts, [
		`{"jsonrpc":"2.0","id":${BIG},"result":{"content":[{"type":"text","text":"a"}]}}`,
	]);
});
