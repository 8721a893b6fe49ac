import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {handshakeVersions} from '../../lib/protocol/version.js';
import {lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';

for (const version of handshakeVersions) {
	test(`FR-001 the version is negotiated in the handshake: a server of ${version} is spoken to in that`, async t => {
		const {ready, client, upstream, logged} = wrapped();
		ready('2025-06-18', version);
		t.like(upstream.received[0], {method: 'initialize', params: {protocolVersion: '2025-11-25'}});
		t.like(client.received[0], {result: {protocolVersion: '2025-06-18'}});
		const [connected] = await logged('proxy.connect');
		t.like(connected, {version, clientVersion: '2025-06-18'});
	});

	test(`FR-002 ${version} is spoken with clients and with servers`, t => {
		const {ready, client, upstream} = wrapped();
		ready(version, version);
		client.send({id: 1, method: 'tools/list'});
		upstream.send({id: 1, result: {tools: []}});
		t.like(lastOf(client), {id: 1, result: {tools: []}});
	});

	test(`FR-003 and FR-012 the version ${version} is read from the answer to initialize, and logged`, async t => {
		const {ready, logged} = wrapped();
		ready('2025-11-25', version);
		const [connected] = await logged('proxy.connect');
		t.like(connected, {server: 'files', transport: 'stdio', version, era: 'handshake'});
	});
}

test('FR-004 initialized is sent only after the answer to initialize', t => {
	const {initialize, initialized, answer, asked} = wrapped();
	initialize();
	initialized();
	t.deepEqual(asked(), ['initialize']);
	answer();
	t.deepEqual(asked(), ['initialize', 'notifications/initialized']);
});

test('FR-005 nothing else is sent before initialized', t => {
	const {initialize, answer, client, asked} = wrapped();
	client.send({id: 1, method: 'tools/list'});
	initialize();
	client.send({id: 2, method: 'resources/list'});
	t.deepEqual(asked(), ['initialize']);
	answer();
	t.deepEqual(asked(), ['initialize', 'notifications/initialized', 'tools/list', 'resources/list']);
});

test('FR-006 each conversation has a version of its own, for as long as it lasts', t => {
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

test('FR-007 requests are translated to the version of the server', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-11-25', '2025-06-18');
	client.send({id: 1, method: 'tools/call', params: {name: 'x', task: {ttl: 1}}});
	t.deepEqual(lastOf(upstream).params, {name: 'x'});
});

test('FR-008 answers are translated to the version of the client', t => {
	const {ready, client, upstream} = wrapped();
	ready('2024-11-05', '2025-11-25');
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.send({id: 1, result: {content: [{type: 'audio', data: 'AA==', mimeType: 'audio/wav'}]}});
	t.like(lastOf(client), {
		result: {content: [{type: 'resource', resource: {blob: 'AA==', mimeType: 'audio/wav'}}]},
	});
});

test('FR-009 differences in structure are bridged: what is required is there, what changed its type is changed', t => {
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

test('FR-010 notifications are translated: those that the client has no word for do not reach it', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-06-18', '2025-11-25');
	const before = client.received.length;
	upstream.send({method: 'notifications/tasks/status', params: {taskId: 't', status: 'working'}});
	upstream.send({method: 'notifications/tools/list_changed'});
	t.like(client.received.slice(before), [{method: 'notifications/tools/list_changed'}]);
	t.is(client.received.length, before + 1);
});

test('FR-013 a version that nobody knows is taken for the newest before it, with a warning', async t => {
	const {ready, client, upstream, logged} = wrapped();
	ready('2025-06-18', '2026-01-01');
	t.like(client.received[0], {result: {protocolVersion: '2025-06-18'}});
	client.send({id: 1, method: 'tools/list'});
	t.like(lastOf(upstream), {method: 'tools/list'});
	const [warning] = await logged('proxy.version.unknown');
	t.like(warning, {server: 'files', answered: '2026-01-01', version: '2025-11-25'});
});

test('FR-015 a server counts as ready only when the whole handshake is done', async t => {
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
