import test from 'ava';
import {type MessageKind, type TranslatedMessage, Translator} from '../../lib/protocol/translator.js';
import {type JsonObject, listOf, objectOf} from '../../lib/util/json.js';

const member = {request: 'params', notification: 'params', result: 'result', error: 'error'} as const;

/** A newer server in front of a client of 2025-06-18 that can do this. */
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

const several = {type: 'object', properties: {c: {type: 'array', items: {enum: ['a', 'b']}}}};

test('elicitation by URL is asked of a client that has declared it, whatever its version', t => {
	const {down, lost} = between({elicitation: {url: {}}});
	const params = {mode: 'url', url: 'https://a', elicitationId: 'e'};
	t.is(down('request', 'elicitation/create', params), undefined);
	t.deepEqual(down('request', 'elicitation/create', {...params, task: {}})?.forward?.params, params);
	t.deepEqual(lost, ['tasks']);
});

test('elicitation by URL is refused in the name of others', t => {
	for (const elicitation of [{}, {form: {}}, undefined]) {
		const {down, lost} = between(elicitation ? {elicitation} : {});
		t.like(down('request', 'elicitation/create', {mode: 'url'})?.reply, {error: {code: -32602}});
		t.deepEqual(lost, ['elicitation by URL']);
	}
});

test('a form loses its mode and its task', t => {
	const {down} = between({elicitation: {}});
	const params = {message: 'm', requestedSchema: {type: 'object', properties: {}}};
	t.is(down('request', 'elicitation/create', params), undefined);
	t.deepEqual(
		down('request', 'elicitation/create', {...params, mode: 'form', task: {}})?.forward?.params,
		params,
	);
});

test('answers to forms are read by the form that they answer, once', t => {
	const {down, up} = between({elicitation: {}});
	down('request', 'elicitation/create', {requestedSchema: several}, 's1');
	const content = {'c[a]': true};
	t.is(up('result', 'elicitation/create', {action: 'accept', content}, 's2'), undefined);
	t.deepEqual(up('result', 'elicitation/create', {action: 'accept', content}, 's1')?.forward?.result, {
		action: 'accept',
		content: {c: ['a']},
	});
	t.is(up('result', 'elicitation/create', {action: 'accept', content}, 's1'), undefined);
});

test('a form that was declined is nothing to read', t => {
	const {down, up} = between({elicitation: {}});
	down('request', 'elicitation/create', {requestedSchema: several}, 's');
	t.is(up('result', 'elicitation/create', {action: 'decline'}, 's'), undefined);
});

test('of a thousand forms without an answer the oldest is forgotten', t => {
	const {down, up} = between({elicitation: {}});
	for (let at = 0; at <= 1000; at++)
		down('request', 'elicitation/create', {requestedSchema: several}, `s${at}`);
	const answer = (id: string) => up('result', 'elicitation/create', {action: 'accept', content: {}}, id);
	t.is(answer('s0'), undefined);
	t.truthy(answer('s1'));
});

/** A form with one choice of several. */
const choice = (options: readonly string[], more: JsonObject = {}): JsonObject => ({
	requestedSchema: {
		type: 'object',
		properties: {c: {type: 'array', items: {enum: options}, ...more}},
	},
});

test('evicts the oldest forms once their options have more than 16 MiB [SEC-D5]', t => {
	const {down, up} = between({elicitation: {}});
	const long = 'x'.repeat(500_000);
	for (let at = 0; at < 20; at++) down('request', 'elicitation/create', choice([long]), `s${at}`);
	const content = {[`c[${long}]`]: true};
	const answer = (id: string) => up('result', 'elicitation/create', {action: 'accept', content}, id);
	t.is(answer('s3'), undefined);
	t.deepEqual(answer('s4')?.forward?.result, {action: 'accept', content: {c: [long]}});
	t.truthy(answer('s19'));
});

test('reads answers to forms under ids of any length', t => {
	const {down, up} = between({elicitation: {}});
	const [one, other] = ['x'.repeat(10_000), `${'x'.repeat(9999)}y`];
	down('request', 'elicitation/create', choice(['a']), one);
	const content = {'c[a]': true};
	t.is(up('result', 'elicitation/create', {action: 'accept', content}, other), undefined);
	t.truthy(up('result', 'elicitation/create', {action: 'accept', content}, one));
});

test('rejects forms with more boxes, or longer ones, than can be shown [SEC-D11]', t => {
	const {down, lost} = between({elicitation: {}});
	const options = Array.from({length: 1000}, (_, at) => String(at));
	const ask = (params: JsonObject) => down('request', 'elicitation/create', params);
	t.truthy(ask(choice(options))?.forward);
	t.deepEqual(lost, ['limits on choices in forms']);
	const description = 'x'.repeat(2000);
	for (const params of [choice([...options, 'more']), choice(options, {description})])
		t.like(ask(params)?.reply, {error: {code: -32602}});
	const fields = Array.from({length: 1001}, (_, at) => [at, {type: 'array'}]);
	t.truthy(ask({requestedSchema: {properties: Object.fromEntries(fields)}})?.reply);
	t.is(lost.filter(feature => feature === 'choices of several in forms').length, 3);
});

test('sampling with tools is asked of a client that has declared them', t => {
	const {down} = between({sampling: {tools: {}}});
	const params = {tools: [], messages: [{role: 'user', content: [{type: 'tool_use'}]}]};
	t.is(down('request', 'sampling/createMessage', params), undefined);
});

test('messages of one block stay, lists are split, and calls of tools become text', t => {
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

test('the first of split messages has the members that all had [SEC-D11]', t => {
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

test('rejects sampling with more than 10,000 blocks in lists [SEC-D11]', t => {
	const {down, lost} = between({sampling: {}});
	const content = Array.from({length: 5001}, () => ({}));
	const messages = [
		{role: 'user', content},
		{role: 'user', content},
	];
	const {reply: back} = down('request', 'sampling/createMessage', {messages}) ?? {};
	t.like(back, {error: {code: -32602}});
	t.regex(String(objectOf(back?.error).message), /10002 blocks .* limit is 10000 \(protocol 2025-06-18\)$/);
	t.deepEqual(lost, ['lists of content in sampling']);
});

test('an error that asks for a visit names the links in its message, where there are any', t => {
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

test('a notification of what is given up without saying what is dropped', t => {
	const {down, up} = between();
	t.deepEqual(down('notification', 'notifications/cancelled', {}), {});
	t.is(down('notification', 'notifications/cancelled', {requestId: 1}), undefined);
	t.is(up('notification', 'notifications/cancelled', {}), undefined);
});
