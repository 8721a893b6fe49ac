import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {handshakeVersions} from '../../lib/protocol/version.js';
import {lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';

for (const version of handshakeVersions) {
	test(`the version is negotiated in the handshake: a server of ${version} is spoken to in that [FR-001]`, async t => {
		const {ready, client, upstream, logged} = wrapped();
		ready('2025-06-18', version);
		t.like(upstream.received[0], {method: 'initialize', params: {protocolVersion: '2025-11-25'}});
		t.like(client.received[0], {result: {protocolVersion: '2025-06-18'}});
		const [connected] = await logged('proxy.connect');
		t.like(connected, {version, clientVersion: '2025-06-18'});
	});

	test(`${version} is spoken with clients and with servers [FR-002]`, t => {
		const {ready, client, upstream} = wrapped();
		ready(version, version);
		client.send({id: 1, method: 'tools/list'});
		upstream.send({id: 1, result: {tools: []}});
		t.like(lastOf(client), {id: 1, result: {tools: []}});
	});

	test(`the version ${version} is read from the answer to initialize, and logged [FR-003] [FR-012]`, async t => {
		const {ready, logged} = wrapped();
		ready('2025-11-25', version);
		const [connected] = await logged('proxy.connect');
		t.like(connected, {server: 'files', transport: 'stdio', version, era: 'handshake'});
	});
}

test('initialized is sent only after the answer to initialize [FR-004]', t => {
	const {initialize, initialized, answer, asked} = wrapped();
	initialize();
	initialized();
	t.deepEqual(asked(), ['initialize']);
	answer();
	t.deepEqual(asked(), ['initialize', 'notifications/initialized']);
});

test('nothing else is sent before initialized [FR-005]', t => {
	const {initialize, answer, client, asked} = wrapped();
	client.send({id: 1, method: 'tools/list'});
	initialize();
	client.send({id: 2, method: 'resources/list'});
	t.deepEqual(asked(), ['initialize']);
	answer();
	t.deepEqual(asked(), ['initialize', 'notifications/initialized', 'tools/list', 'resources/list']);
});

test('each conversation has a version of its own, for as long as it lasts [FR-006]', t => {
	const [old, young] = [wrapped(), wrapped()];
	old.ready('2024-11-05', '2024-11-05');
	young.ready('2025-11-25', '2025-03-26');
	for (const {client, upstream} of [old, young]) {
		client.send({id: 1, method: 'tools/call', params: {name: 'x', task: {ttl: 1}}});
		upstream.send({id: 1, result: {content: []}});
		client.send({id: 2, method: 'tools/call', params: {name: 'x', task: {ttl: 1}}});
	}
	t.like(lastOf(old.upstream), {params: {task: {ttl: 1}}});
	t.deepEqual(lastOf(young.upstream).params, {name: 'x'});
});

test('requests are translated to the version of the server [FR-007]', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-11-25', '2025-06-18');
	client.send({id: 1, method: 'tools/call', params: {name: 'x', task: {ttl: 1}}});
	t.deepEqual(lastOf(upstream).params, {name: 'x'});
});

test('answers are translated to the version of the client [FR-008]', t => {
	const {ready, client, upstream} = wrapped();
	ready('2024-11-05', '2025-11-25');
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.send({id: 1, result: {content: [{type: 'audio', data: 'AA==', mimeType: 'audio/wav'}]}});
	t.like(lastOf(client), {
		result: {content: [{type: 'resource', resource: {blob: 'AA==', mimeType: 'audio/wav'}}]},
	});
});

test('differences in structure are bridged: what is required is there, what changed its type is changed [FR-009]', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-03-26', '2025-11-25', {sampling: {}});
	const content = [
		{type: 'text', text: 'one'},
		{type: 'text', text: 'two'},
	];
	upstream.send({
		id: 1,
		method: 'sampling/createMessage',
		params: {messages: [{role: 'user', content}], maxTokens: 1},
	});
	t.like(lastOf(client), {params: {messages: content.map(block => ({role: 'user', content: block}))}});
	client.send({id: 2, method: 'tools/call', params: {name: 'x'}});
	upstream.send({id: 2, result: {structuredContent: {a: 1}}});
	t.like(lastOf(client), {result: {content: [{type: 'text', text: '{"a":1}'}]}});
});

test('notifications are translated: those that the client has no word for do not reach it [FR-010]', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-06-18', '2025-11-25');
	const before = client.received.length;
	upstream.send({method: 'notifications/tasks/status', params: {taskId: 't', status: 'working'}});
	upstream.send({method: 'notifications/tools/list_changed'});
	t.like(client.received.slice(before), [{method: 'notifications/tools/list_changed'}]);
	t.is(client.received.length, before + 1);
});

test('a version that nobody knows is taken for the newest before it, with a warning [FR-013]', async t => {
	const {ready, client, upstream, logged} = wrapped();
	ready('2025-06-18', '2026-01-01');
	t.like(client.received[0], {result: {protocolVersion: '2025-06-18'}});
	client.send({id: 1, method: 'tools/list'});
	t.like(lastOf(upstream), {method: 'tools/list'});
	const [warning] = await logged('proxy.version.unknown');
	t.like(warning, {server: 'files', answered: '2026-01-01', version: '2025-11-25'});
});

test('a server counts as ready only when the whole handshake is done [FR-015]', async t => {
	const {initialize, answer, client, upstream, asked, logged} = wrapped();
	initialize();
	client.send({id: 1, method: 'ping'});
	t.like(lastOf(client), {id: 1, result: {}});
	t.deepEqual(asked(), ['initialize']);
	answer();
	client.send({id: 2, method: 'tools/list'});
	t.deepEqual(asked(), ['initialize', 'notifications/initialized', 'tools/list']);
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.'));
	t.like(lastOf(client), {id: 2, error: {code: -31_004}});
	t.is((await logged('proxy.connect')).length, 1);
});
