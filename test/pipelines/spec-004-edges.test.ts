import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {until} from '../helpers/pipeline.js';
import {clientInfo, envelope, lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';

/* The edge cases of specification 004, and cases that were measured with real servers. */

test('edge case 1: uses the newest handshake for an unsupported version, with one warning [E13]', async t => {
	const {ready, client, upstream, logged} = wrapped();
	ready('2025-06-18', '2026-01-01');
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.send({id: 1, result: {content: [{type: 'video', uri: 'x'}]}});
	t.like(lastOf(client), {result: {content: [{type: 'text'}]}});
	t.is((await logged('proxy.version.unknown')).length, 1);
});

test('edge case 1: fails initialize if the server responds with a version of the stateless era or later', t => {
	const {initialize, respond, client} = wrapped();
	initialize();
	respond({protocolVersion: '2027-01-01'});
	t.like(lastOf(client), {id: 'i', error: {code: -31_001}});
	t.regex(JSON.stringify(lastOf(client)), /2027-01-01.*--target-version/);
});

test('edge case 2: requests older versions until the server accepts one', t => {
	const {initialize, respond, client, upstream} = wrapped();
	initialize('2025-06-18');
	for (const expected of ['2025-11-25', '2025-06-18', '2025-03-26']) {
		t.like(lastOf(upstream), {params: {protocolVersion: expected}});
		upstream.send({id: lastOf(upstream).id, error: {code: -32602, message: 'Unsupported protocol version'}});
	}
	respond({protocolVersion: '2024-11-05'});
	t.like(lastOf(client), {id: 'i', result: {protocolVersion: '2025-06-18'}});
	t.is(client.received.length, 1);
});

test('edge case 2: requests the newest version that an error lists', t => {
	const {initialize, upstream} = wrapped();
	initialize();
	const data = {supported: ['2024-11-05', '2025-03-26']};
	upstream.send({id: lastOf(upstream).id, error: {code: -32602, message: 'no', data}});
	t.like(lastOf(upstream), {params: {protocolVersion: '2025-03-26'}});
});

test('edge case 4: completes a result without version, capabilities and name [E13]', async t => {
	const {initialize, client, upstream, logged} = wrapped();
	initialize('2025-06-18');
	upstream.send({id: lastOf(upstream).id, result: {}});
	const result = {
		protocolVersion: '2025-06-18',
		capabilities: {},
		serverInfo: {name: 'unknown', version: '0'},
	};
	t.like(lastOf(client), {id: 'i', result});
	t.like(await logged('proxy.connect'), [{version: '2024-11-05'}]);
});

test('edge case 4: forwards any other error of initialize, and fails queued requests', async t => {
	const {initialize, client, upstream, logged} = wrapped();
	initialize();
	client.send({id: 1, method: 'tools/list'});
	upstream.send({id: lastOf(upstream).id, error: {code: 401, message: 'Log in first'}});
	t.like(client.received, [
		{id: 'i', error: {code: 401}},
		{id: 1, error: {code: -31_001}},
	]);
	t.regex(JSON.stringify(client.received[1]), /files.*Log in first/);
	t.is((await logged('proxy.handshake.failed')).length, 1);
});

test('edge case 5: fails all waiting requests with the reason when a server exits during the handshake', t => {
	const {initialize, client, upstream} = wrapped();
	initialize();
	client.send({id: 1, method: 'tools/list'});
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited with code 3.', 'Start it again.'));
	t.like(client.received, [
		{id: 'i', error: {code: -31_004}},
		{id: 1, error: {code: -31_004}},
	]);
});

test('edge case 6: sends initialized for a client that does not send it', t => {
	const {initialize, respond, client, receivedMethods} = wrapped();
	initialize();
	respond();
	client.send({id: 1, method: 'tools/list'});
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized', 'tools/list']);
});

test('edge case 7: fails initialize at the time limit, and does not cancel it', async t => {
	const {initialize, client, receivedMethods} = wrapped({timeoutMs: 20});
	initialize();
	await until(() => client.received.length === 1);
	t.like(lastOf(client), {id: 'i', error: {code: -31_002}});
	t.deepEqual(receivedMethods(), ['initialize']);
});

test('edge case 8: queues requests in order until the server is ready, and drops cancelled ones [E12]', t => {
	const {initialize, respond, client, upstream, receivedMethods} = wrapped();
	initialize();
	for (const id of [1, 2, 3]) client.send({id, method: 'tools/call', params: {name: `tool ${id}`}});
	client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	client.send({id: 4, method: 'ping'});
	t.like(lastOf(client), {id: 4, result: {}});
	respond();
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized', 'tools/call', 'tools/call']);
	t.like(upstream.received.slice(2), [{id: 1}, {id: 3}]);
});

test('edge case 9: initializes the server for a stateless client and responds to its server/discover', t => {
	const {client, upstream, respond} = wrapped();
	client.send({id: 'd', method: 'server/discover', params: {_meta: envelope()}});
	t.like(lastOf(upstream), {method: 'initialize', params: {protocolVersion: '2025-11-25', clientInfo}});
	respond();
	t.like(lastOf(client), {id: 'd', result: {supportedVersions: ['2026-07-28'], capabilities: {tools: {}}}});
});

test('edge case 10: sends initialize first to a server on stdio, since some exit on anything else', t => {
	const {client, upstream} = wrapped();
	client.send({id: 1, method: 'tools/list', params: {_meta: envelope()}});
	t.like(upstream.received, [{method: 'initialize'}]);
	t.is(upstream.received.length, 1);
});

test('edge case 11: logs a lost feature once per server', async t => {
	const {ready, client, upstream, logged} = wrapped();
	ready('2025-03-26', '2025-11-25');
	for (const id of [1, 2]) {
		client.send({id, method: 'tools/call', params: {name: 'x'}});
		upstream.send({id, result: {content: [{type: 'resource_link', uri: 'file:///a', name: 'a'}]}});
	}
	t.like(await logged('proxy.feature.lost'), [{server: 'files', feature: 'links to resources'}]);
	t.is((await logged('proxy.feature.lost')).length, 1);
});

test('edge case 13: logs and drops output that is not a message, also during the handshake', async t => {
	const {initialize, respond, client, upstream, logged} = wrapped();
	upstream.sendText('Server is starting …');
	initialize();
	upstream.sendText('still starting');
	respond();
	t.is(client.received.length, 1);
	t.is((await logged('child.stdout.garbage')).length, 2);
});

test('Specification 000, rewrite initialize request: the server receives the target version', t => {
	const {initialize, upstream} = wrapped({targetVersion: '2024-11-05'});
	initialize('2025-06-18');
	t.like(lastOf(upstream), {params: {protocolVersion: '2024-11-05'}});
});

test('Specification 000, rewrite initialize response: the client receives the client version', t => {
	const {initialize, respond, client} = wrapped({targetVersion: '2024-11-05', clientVersion: '2025-03-26'});
	initialize('2025-06-18');
	respond({protocolVersion: '2024-11-05'});
	t.like(lastOf(client), {result: {protocolVersion: '2025-03-26'}});
});

for (const id of ['1.5', '9007199254740993', '12345678901234567890'])
	test(`replaces the id ${id}, which many servers cannot handle, and restores it for the client`, t => {
		const {ready, client, upstream} = wrapped();
		ready('2025-06-18', '2025-11-25');
		client.sendText(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`);
		const {id: upstreamId} = lastOf(upstream);
		t.is(typeof upstreamId, 'string');
		upstream.send({id: upstreamId, result: {tools: []}});
		t.is(client.receivedTexts.at(-1), `{"jsonrpc":"2.0","id":${id},"result":{"tools":[]}}`);
	});
