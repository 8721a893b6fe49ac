import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {handshakeVersions} from '../../lib/protocol/version.js';
import {lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';

for (const version of handshakeVersions) {
	test(`negotiates ${version} with a server in the handshake [FR-001]`, async t => {
		const {ready, client, upstream, logged} = wrapped();
		ready('2025-06-18', version);
		t.like(upstream.received[0], {method: 'initialize', params: {protocolVersion: '2025-11-25'}});
		t.like(client.received[0], {result: {protocolVersion: '2025-06-18'}});
		const [connected] = await logged('proxy.connect');
		t.like(connected, {version, clientVersion: '2025-06-18'});
	});

	test(`supports ${version} for clients and servers [FR-002]`, t => {
		const {ready, client, upstream} = wrapped();
		ready(version, version);
		client.send({id: 1, method: 'tools/list'});
		upstream.send({id: 1, result: {tools: []}});
		t.like(lastOf(client), {id: 1, result: {tools: []}});
	});

	test(`reads the version ${version} from the result of initialize, and logs it [FR-003] [FR-012]`, async t => {
		const {ready, logged} = wrapped();
		ready('2025-11-25', version);
		const [connected] = await logged('proxy.connect');
		t.like(connected, {server: 'files', transport: 'stdio', version, era: 'handshake'});
	});
}

test('sends initialized only after the result of initialize [FR-004]', t => {
	const {initialize, initialized, respond, receivedMethods} = wrapped();
	initialize();
	initialized();
	t.deepEqual(receivedMethods(), ['initialize']);
	respond();
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized']);
});

test('sends no other message before initialized [FR-005]', t => {
	const {initialize, respond, client, receivedMethods} = wrapped();
	client.send({id: 1, method: 'tools/list'});
	initialize();
	client.send({id: 2, method: 'resources/list'});
	t.deepEqual(receivedMethods(), ['initialize']);
	respond();
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized', 'tools/list', 'resources/list']);
});

test('keeps one version per conversation [FR-006]', t => {
	const [old, recent] = [wrapped(), wrapped()];
	old.ready('2024-11-05', '2024-11-05');
	recent.ready('2025-11-25', '2025-03-26');
	for (const {client, upstream} of [old, recent]) {
		client.send({id: 1, method: 'tools/call', params: {name: 'x', task: {ttl: 1}}});
		upstream.send({id: 1, result: {content: []}});
		client.send({id: 2, method: 'tools/call', params: {name: 'x', task: {ttl: 1}}});
	}
	t.like(lastOf(old.upstream), {params: {task: {ttl: 1}}});
	t.deepEqual(lastOf(recent.upstream).params, {name: 'x'});
});

test('translates requests to the version of the server [FR-007]', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-11-25', '2025-06-18');
	client.send({id: 1, method: 'tools/call', params: {name: 'x', task: {ttl: 1}}});
	t.deepEqual(lastOf(upstream).params, {name: 'x'});
});

test('translates responses to the version of the client [FR-008]', t => {
	const {ready, client, upstream} = wrapped();
	ready('2024-11-05', '2025-11-25');
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.send({id: 1, result: {content: [{type: 'audio', data: 'AA==', mimeType: 'audio/wav'}]}});
	t.like(lastOf(client), {
		result: {content: [{type: 'resource', resource: {blob: 'AA==', mimeType: 'audio/wav'}}]},
	});
});

test('adds required members and converts members of another type [FR-009]', t => {
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

test('drops notifications that the version of the client does not have [FR-010]', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-06-18', '2025-11-25');
	const before = client.received.length;
	upstream.send({method: 'notifications/tasks/status', params: {taskId: 't', status: 'working'}});
	upstream.send({method: 'notifications/tools/list_changed'});
	t.like(client.received.slice(before), [{method: 'notifications/tools/list_changed'}]);
	t.is(client.received.length, before + 1);
});

test('uses the newest handshake for an unknown version, with a warning [FR-013]', async t => {
	const {ready, client, upstream, logged} = wrapped();
	ready('2025-06-18', '2026-01-01');
	t.like(client.received[0], {result: {protocolVersion: '2025-06-18'}});
	client.send({id: 1, method: 'tools/list'});
	t.like(lastOf(upstream), {method: 'tools/list'});
	const [warning] = await logged('proxy.version.unknown');
	t.like(warning, {server: 'files', answered: '2026-01-01', version: '2025-11-25'});
});

test('treats a server as ready only after the whole handshake [FR-015]', async t => {
	const {initialize, respond, client, upstream, receivedMethods, logged} = wrapped();
	initialize();
	client.send({id: 1, method: 'ping'});
	t.like(lastOf(client), {id: 1, result: {}});
	t.deepEqual(receivedMethods(), ['initialize']);
	respond();
	client.send({id: 2, method: 'tools/list'});
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized', 'tools/list']);
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.'));
	t.like(lastOf(client), {id: 2, error: {code: -31_004}});
	t.is((await logged('proxy.connect')).length, 1);
});
