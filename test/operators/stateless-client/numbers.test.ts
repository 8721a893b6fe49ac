import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {envelope} from '../../helpers/version-stages.js';
import {
	ask,
	asked,
	MODERN,
	modernClientPair,
	modernServerPair,
	needs,
	news,
	question,
	ready,
	retry,
	textResult,
} from '../stateless-support.js';

/* Numbers that a parser changes, and ids that are such, in what is made anew between the eras. */

const BIG = '9007199254740993';
const numbers = `[1.0,${BIG},1e400,-0]`;
/** The id that the server was told for the last request: one of bridge's own, where many would not answer. */
const told = ({received: heard}: {readonly received: ReadonlyArray<{readonly id?: unknown}>}): string =>
	JSON.stringify(heard.at(-1)?.id);
const meta = JSON.stringify(envelope({elicitation: {}, sampling: {}}));

test('a request of a modern client keeps its numbers', t => {
	const {client, upstream} = modernClientPair();
	client.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta},"name":"x","arguments":${numbers}}}`,
	);
	t.deepEqual(upstream.receivedTexts, [
		`{"jsonrpc":"2.0","id":${told(upstream)},"method":"tools/call","params":{"name":"x","arguments":${numbers}}}`,
	]);
});

test('a result for a modern client keeps its numbers, and its id', t => {
	const {client, upstream} = modernClientPair();
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta}}}`);
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${told(upstream)},"result":{"content":[],"structuredContent":{"n":${numbers}}}}`,
	);
	t.true(client.receivedTexts[0]?.startsWith(`{"jsonrpc":"2.0","id":${BIG},"result":`));
	t.true(client.receivedTexts[0]?.includes(`"structuredContent":{"n":${numbers}}`));
});

test('a call with a big id that needs input is told so under its id', t => {
	const {client, upstream} = modernClientPair();
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta}}}`);
	upstream.send(question('s'));
	t.true(client.receivedTexts[0]?.includes(`"id":${BIG},`));
});

test('a question with a big id is answered under it', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"elicitation/create","params":{"message":"?"}}`,
	);
	t.deepEqual(Object.keys(asked(pair).requests), [BIG]);
	news(pair.upstream);
	retry(pair, 2, asked(pair).state, {[BIG]: {action: 'decline'}});
	t.deepEqual(pair.upstream.receivedTexts, [`{"jsonrpc":"2.0","id":${BIG},"result":{"action":"decline"}}`]);
});

test('a call with a big id that is given up after a retry is given up under the id that the server knows', t => {
	const pair = modernClientPair();
	pair.client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"_meta":${meta}}}`);
	const id = told(pair.upstream);
	pair.upstream.send(question('s'));
	retry(pair, 2, asked(pair).state, {s: {action: 'decline'}});
	news(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	t.true(pair.upstream.receivedTexts[0]?.includes(`"requestId":${id}`));
});

test('a question of a handshake server keeps its numbers', t => {
	const pair = modernClientPair();
	ask(pair, 1, {can: {sampling: {}}});
	pair.upstream.sendText(
		`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":${numbers}}}`,
	);
	t.true(pair.client.receivedTexts[0]?.includes(`"messages":${numbers}`));
});

test("a modern client's answer keeps its numbers", t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question('s'));
	const state = JSON.stringify(asked(pair).state);
	news(pair.upstream);
	pair.client.sendText(
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":${meta},"requestState":${state},"inputResponses":{"s":{"action":"accept","content":{"n":${numbers}}}}}}`,
	);
	t.true(pair.upstream.receivedTexts[0]?.includes(`"content":{"n":${numbers}}`));
});

test('a request of a handshake client and its result keep their numbers', t => {
	const {client, upstream} = modernServerPair();
	client.sendText(
		`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"name":"x","arguments":${numbers}}}`,
	);
	t.true(upstream.receivedTexts[0]?.includes(`"arguments":${numbers}`));
	upstream.sendText(
		`{"jsonrpc":"2.0","id":${told(upstream)},"result":{"resultType":"complete","content":[],"structuredContent":{"n":${numbers}}}}`,
	);
	t.deepEqual(client.receivedTexts, [
		`{"jsonrpc":"2.0","id":${BIG},"result":{"content":[],"structuredContent":{"n":${numbers}}}}`,
	]);
});

test('a call of a handshake client that is made again keeps its numbers', t => {
	const {client, upstream} = modernServerPair();
	client.sendText(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${numbers}}}`,
	);
	news(upstream);
	upstream.send(needs(1, undefined, 'state'));
	t.true(upstream.receivedTexts[0]?.includes(`"arguments":${numbers}`));
});

test("a handshake client's answer to a modern server keeps its numbers", t => {
	const {client, upstream} = modernServerPair({clientCapabilities: {elicitation: {}}});
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	news(upstream);
	upstream.send(needs(1, {who: {method: 'elicitation/create', params: {}}}));
	const id = JSON.stringify(client.received.at(-1)?.id);
	client.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"action":"accept","content":{"n":${numbers}}}}`);
	t.true(upstream.receivedTexts[0]?.includes(`"content":{"n":${numbers}}`));
});

test('output that is wrapped for a handshake client is the same as text', t => {
	const {client, upstream} = modernServerPair();
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.sendText(
		'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"structuredContent":[21.0]}}',
	);
	const {content} = objectOf(client.received.at(-1)?.result) as {content?: Array<{text: string}>};
	t.deepEqual(JSON.parse(content?.[0]?.text ?? ''), [21]);
});

test('the answer to a call that is made again comes under its id, character for character', t => {
	const {client, upstream} = ready({client: '2025-11-25', server: MODERN});
	client.sendText(`{"jsonrpc":"2.0","id":${BIG},"method":"tools/call","params":{"name":"x"}}`);
	upstream.send(needs(upstream.received.at(-1)?.id, undefined, 'state'));
	upstream.send({id: upstream.received.at(-1)?.id, result: {resultType: 'complete', ...textResult('a')}});
	t.deepEqual(client.receivedTexts, [
		`{"jsonrpc":"2.0","id":${BIG},"result":{"content":[{"type":"text","text":"a"}]}}`,
	]);
});
