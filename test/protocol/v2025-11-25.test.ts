import test from 'ava';
import type {JsonObject} from '../../lib/protocol/json.js';
import {type Kind, type Outcome, Translator} from '../../lib/protocol/translate.js';

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
	const down = (kind: Kind, method: string, value: JsonObject, id = '1'): Outcome | undefined =>
		translator.translate('toClient', kind, method, {id, [member[kind]]: value}, id);
	const up = (kind: Kind, method: string, value: JsonObject, id = '1'): Outcome | undefined =>
		translator.translate('toUpstream', kind, method, {id, [member[kind]]: value}, id);
	return {lost, down, up};
}

const several = {type: 'object', properties: {c: {type: 'array', items: {enum: ['a', 'b']}}}};

test('elicitation by URL is asked of a client that has declared it, whatever its version', t => {
	const {down, lost} = between({elicitation: {url: {}}});
	const params = {mode: 'url', url: 'https://a', elicitationId: 'e'};
	t.is(down('request', 'elicitation/create', params), undefined);
	t.deepEqual(down('request', 'elicitation/create', {...params, task: {}})?.on?.params, params);
	t.deepEqual(lost, ['tasks']);
});

test('elicitation by URL is refused in the name of others', t => {
	for (const elicitation of [{}, {form: {}}, undefined]) {
		const {down, lost} = between(elicitation ? {elicitation} : {});
		t.like(down('request', 'elicitation/create', {mode: 'url'})?.back, {error: {code: -32602}});
		t.deepEqual(lost, ['elicitation by URL']);
	}
});

test('a form loses its mode and its task', t => {
	const {down} = between({elicitation: {}});
	const params = {message: 'm', requestedSchema: {type: 'object', properties: {}}};
	t.is(down('request', 'elicitation/create', params), undefined);
	t.deepEqual(down('request', 'elicitation/create', {...params, mode: 'form', task: {}})?.on?.params, params);
});

test('answers to forms are read by the form that they answer, once', t => {
	const {down, up} = between({elicitation: {}});
	down('request', 'elicitation/create', {requestedSchema: several}, 's1');
	const content = {'c[a]': true};
	t.is(up('result', 'elicitation/create', {action: 'accept', content}, 's2'), undefined);
	t.deepEqual(up('result', 'elicitation/create', {action: 'accept', content}, 's1')?.on?.result, {
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
	t.deepEqual(down('request', 'sampling/createMessage', {messages})?.on?.params, {
		messages: [
			{role: 'user', content: {type: 'text', text: 'a'}},
			{role: 'user', content: 5},
			{role: 'assistant', content: {type: 'text', text: JSON.stringify(use)}},
		],
	});
	t.deepEqual(lost, ['tools in sampling']);
});

test('an error that asks for a visit names the links in its message, where there are any', t => {
	const {down} = between();
	const data = {elicitations: [{url: 'https://a', message: 'm'}, {url: 'https://b'}]};
	const error = {code: -32042, message: 'Go.'};
	t.deepEqual(down('error', 'tools/call', {...error, data})?.on?.error, {
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
