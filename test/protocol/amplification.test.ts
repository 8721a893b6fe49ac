import test from 'ava';
import {Translator} from '../../lib/protocol/translator.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import {type JsonObject, listOf, objectOf} from '../../lib/util/json.js';

/** The message that a client receives for a result of a 2025-11-25 server, and the losses. */
function received(client: HandshakeVersion, method: string, result: JsonObject, id = '1') {
	const lost: string[] = [];
	const onLoss = (feature: string): void => void lost.push(feature);
	const translator = new Translator({client, upstream: '2025-11-25', onLoss});
	const outcome = translator.translate('toClient', 'result', method, {jsonrpc: '2.0', id, result}, id);
	return {forwarded: outcome?.forward, lost};
}

const blocks = (count: number, block: JsonObject): JsonObject[] => Array.from({length: count}, () => block);

test('shows 10,000 blocks of unknown types as text', t => {
	const {forwarded, lost} = received('2025-11-25', 'tools/call', {content: blocks(10_000, {})});
	const content = listOf(objectOf(forwarded?.result).content);
	t.is(content.length, 10_000);
	t.true(content.every(block => objectOf(block).type === 'text'));
	t.is(lost.length, 10_000);
});

test('replaces a result with more blocks of unknown types with an error [SEC-D11]', t => {
	const prompt = {messages: blocks(10_001, {role: 'user', content: {}})};
	for (const [method, result] of [
		['tools/call', {content: blocks(10_001, {})}],
		['prompts/get', prompt],
	] as const) {
		const {forwarded} = received('2025-11-25', method, result, 'a');
		t.like(forwarded, {jsonrpc: '2.0', id: 'a', error: {code: -32603}});
		t.regex(String(objectOf(forwarded?.error).message), /^The result has 10001 blocks .* limit is 10000\.$/);
		t.false('result' in (forwarded ?? {}));
	}
});

test('hashes a long message id in the URIs of its blocks [SEC-D11]', t => {
	const audio = {type: 'audio', data: 'AA==', mimeType: 'audio/wav'};
	const uris = (id: string): unknown[] => {
		const {forwarded} = received('2024-11-05', 'tools/call', {content: blocks(2, audio)}, id);
		return listOf(objectOf(forwarded?.result).content).map(block => objectOf(objectOf(block).resource).uri);
	};
	const short = 'é'.repeat(64);
	t.deepEqual(
		uris(short),
		[0, 1].map(at => `bridge://content/${encodeURIComponent(short)}/${at}`),
	);
	const [one, other] = [uris('x'.repeat(65)), uris('x'.repeat(100_000))];
	for (const [at, uri] of [...one, ...other].entries())
		t.regex(String(uri), new RegExp(`^bridge://content/[\\w-]{43}/${at % 2}$`));
	t.notDeepEqual(one, other);
});
