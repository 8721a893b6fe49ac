import test from 'ava';
import {type MessageKind, type TranslatedMessage, Translator} from '../../lib/protocol/translator.js';
import {type JsonObject, listOf, objectOf} from '../../lib/util/json.js';

const member = {request: 'params', notification: 'params', result: 'result', error: 'error'} as const;

/** A translator between a 2025-11-25 server and a 2025-06-18 client with these capabilities. */
function between(clientCapabilities: JsonObject = {}) {
	const lost: string[] = [];
	const onLoss = (feature: string): void => void lost.push(feature);
	const translator = new Translator({
		client: '2025-06-18',
		upstream: '2025-11-25',
		clientCapabilities,
		onLoss,
	});
	const down = (
		kind: MessageKind,
		method: string,
		value: JsonObject,
		id = '1',
	): TranslatedMessage | undefined =>
		translator.translate('toClient', kind, method, {id, [member[kind]]: value}, id);
	const up = (
		kind: MessageKind,
		method: string,
		value: JsonObject,
		id = '1',
	): TranslatedMessage | undefined =>
		translator.translate('toUpstream', kind, method, {id, [member[kind]]: value}, id);
	return {lost, down, up};
}

const multiSelectForm = {type: 'object', properties: {c: {type: 'array', items: {enum: ['a', 'b']}}}};

test('forwards elicitation by URL to a client that declared it, whatever its version', t => {
	const {down, lost} = between({elicitation: {url: {}}});
	const params = {mode: 'url', url: 'https://a', elicitationId: 'e'};
	t.is(down('request', 'elicitation/create', params), undefined);
	t.deepEqual(down('request', 'elicitation/create', {...params, task: {}})?.forward?.params, params);
	t.deepEqual(lost, ['tasks']);
});

test('rejects elicitation by URL for clients that did not declare it', t => {
	for (const elicitation of [{}, {form: {}}, undefined]) {
		const {down, lost} = between(elicitation ? {elicitation} : {});
		t.like(down('request', 'elicitation/create', {mode: 'url'})?.reply, {error: {code: -32602}});
		t.deepEqual(lost, ['elicitation by URL']);
	}
});

test('removes the mode and the task of a form', t => {
	const {down} = between({elicitation: {}});
	const params = {message: 'm', requestedSchema: {type: 'object', properties: {}}};
	t.is(down('request', 'elicitation/create', params), undefined);
	t.deepEqual(
		down('request', 'elicitation/create', {...params, mode: 'form', task: {}})?.forward?.params,
		params,
	);
});

test('converts the response to a form once, by its request id', t => {
	const {down, up} = between({elicitation: {}});
	down('request', 'elicitation/create', {requestedSchema: multiSelectForm}, 's1');
	const content = {'c[a]': true};
	t.is(up('result', 'elicitation/create', {action: 'accept', content}, 's2'), undefined);
	t.deepEqual(up('result', 'elicitation/create', {action: 'accept', content}, 's1')?.forward?.result, {
		action: 'accept',
		content: {c: ['a']},
	});
	t.is(up('result', 'elicitation/create', {action: 'accept', content}, 's1'), undefined);
});

test('does not convert the response to a declined form', t => {
	const {down, up} = between({elicitation: {}});
	down('request', 'elicitation/create', {requestedSchema: multiSelectForm}, 's');
	t.is(up('result', 'elicitation/create', {action: 'decline'}, 's'), undefined);
});

test('evicts the oldest of more than 1000 forms without a response', t => {
	const {down, up} = between({elicitation: {}});
	for (let at = 0; at <= 1000; at++)
		down('request', 'elicitation/create', {requestedSchema: multiSelectForm}, `s${at}`);
	const respond = (id: string) => up('result', 'elicitation/create', {action: 'accept', content: {}}, id);
	t.is(respond('s0'), undefined);
	t.truthy(respond('s1'));
});

const multiSelect = (options: readonly string[], more: JsonObject = {}): JsonObject => ({
	requestedSchema: {
		type: 'object',
		properties: {c: {type: 'array', items: {enum: options}, ...more}},
	},
});

test('evicts the oldest forms once their options exceed 16 MiB [SEC-D5]', t => {
	const {down, up} = between({elicitation: {}});
	const long = 'x'.repeat(500_000);
	for (let at = 0; at < 20; at++) down('request', 'elicitation/create', multiSelect([long]), `s${at}`);
	const content = {[`c[${long}]`]: true};
	const respond = (id: string) => up('result', 'elicitation/create', {action: 'accept', content}, id);
	t.is(respond('s3'), undefined);
	t.deepEqual(respond('s4')?.forward?.result, {action: 'accept', content: {c: [long]}});
	t.truthy(respond('s19'));
});

test('converts responses to forms with ids of any length', t => {
	const {down, up} = between({elicitation: {}});
	const [one, other] = ['x'.repeat(10_000), `${'x'.repeat(9999)}y`];
	down('request', 'elicitation/create', multiSelect(['a']), one);
	const content = {'c[a]': true};
	t.is(up('result', 'elicitation/create', {action: 'accept', content}, other), undefined);
	t.truthy(up('result', 'elicitation/create', {action: 'accept', content}, one));
});

test('rejects forms with too many or too long checkboxes [SEC-D11]', t => {
	const {down, lost} = between({elicitation: {}});
	const options = Array.from({length: 1000}, (_, at) => String(at));
	const elicit = (params: JsonObject) => down('request', 'elicitation/create', params);
	t.truthy(elicit(multiSelect(options))?.forward);
	t.deepEqual(lost, ['limits on choices in forms']);
	const description = 'x'.repeat(2000);
	for (const params of [multiSelect([...options, 'more']), multiSelect(options, {description})])
		t.like(elicit(params)?.reply, {error: {code: -32602}});
	const fields = Array.from({length: 1001}, (_, at) => [at, {type: 'array'}]);
	t.truthy(elicit({requestedSchema: {properties: Object.fromEntries(fields)}})?.reply);
	t.is(lost.filter(feature => feature === 'multi-select fields in forms').length, 3);
});

test('forwards sampling with tools to a client that declared it', t => {
	const {down} = between({sampling: {tools: {}}});
	const params = {tools: [], messages: [{role: 'user', content: [{type: 'tool_use'}]}]};
	t.is(down('request', 'sampling/createMessage', params), undefined);
});

test('splits content lists, converts tool calls to text and keeps messages of one block', t => {
	const {down, lost} = between({sampling: {}});
	const plain = {messages: [{role: 'user', content: {type: 'text', text: 'a'}}, 5]};
	t.is(down('request', 'sampling/createMessage', {messages: plain.messages.slice(0, 1)}), undefined);
	const use = {type: 'tool_use', id: 'u'};
	const messages = [
		{role: 'user', content: [{type: 'text', text: 'a'}, 5]},
		{role: 'assistant', content: use},
	];
	t.deepEqual(down('request', 'sampling/createMessage', {messages})?.forward?.params, {
		messages: [
			{role: 'user', content: {type: 'text', text: 'a'}},
			{role: 'user', content: 5},
			{role: 'assistant', content: {type: 'text', text: JSON.stringify(use)}},
		],
	});
	t.deepEqual(lost, ['tools in sampling']);
});

test('keeps additional members only in the first of the split messages [SEC-D11]', t => {
	const {down} = between({sampling: {}});
	const long = 'x'.repeat(10_000);
	const content = Array.from({length: 10_000}, () => ({}));
	const messages = [{role: 'user', _meta: {long}, long, content}];
	const split = listOf(
		objectOf(down('request', 'sampling/createMessage', {messages})?.forward?.params).messages,
	);
	t.is(split.length, 10_000);
	t.deepEqual(split[0], {role: 'user', _meta: {long}, long, content: {}});
	t.deepEqual(split[9999], {role: 'user', content: {}});
	const odd = [{role: long, content: [1, 2]}];
	t.deepEqual(down('request', 'sampling/createMessage', {messages: odd})?.forward?.params, {
		messages: [{role: long, content: 1}, {content: 2}],
	});
});

test('rejects sampling with more than 10,000 blocks in content lists [SEC-D11]', t => {
	const {down, lost} = between({sampling: {}});
	const content = Array.from({length: 5001}, () => ({}));
	const messages = [
		{role: 'user', content},
		{role: 'user', content},
	];
	const {reply} = down('request', 'sampling/createMessage', {messages}) ?? {};
	t.like(reply, {error: {code: -32602}});
	t.regex(String(objectOf(reply?.error).message), /10002 blocks .* limit is 10000 \(protocol 2025-06-18\)$/);
	t.deepEqual(lost, ['lists of content in sampling']);
});

test('adds the links of a URL elicitation error to its message', t => {
	const {down} = between();
	const data = {elicitations: [{url: 'https://a', message: 'm'}, {url: 'https://b'}]};
	const error = {code: -32042, message: 'Go.'};
	t.deepEqual(down('error', 'tools/call', {...error, data})?.forward?.error, {
		...error,
		message: 'Go. Open: https://a (m) Open: https://b',
		data,
	});
	for (const other of [error, {code: 1, message: '-32042'}, {...error, data: {elicitations: 'x'}}])
		t.is(down('error', 'tools/call', other), undefined);
});

test('drops a cancellation without a request id for an older client', t => {
	const {down, up} = between();
	t.deepEqual(down('notification', 'notifications/cancelled', {}), {});
	t.is(down('notification', 'notifications/cancelled', {requestId: 1}), undefined);
	t.is(up('notification', 'notifications/cancelled', {}), undefined);
});
