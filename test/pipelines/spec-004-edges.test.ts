import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {until} from '../helpers/pipeline.js';
import {clientInfo, envelope, lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';

/* The edge cases of specification 004, with those that were measured with real servers. */

test('edge case 1: an unsupported version that is answered is taken for the newest handshake, once with a warning [E13]', async t => {
	const {ready, client, upstream, logged} = wrapped();
	ready('2025-06-18', '2026-01-01');
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.send({id: 1, result: {content: [{type: 'video', uri: 'x'}]}});
	t.like(lastOf(client), {result: {content: [{type: 'text'}]}});
	t.is((await logged('proxy.version.unknown')).length, 1);
});

test('edge case 1: an answer from the modern era or later is no handshake: initialize fails and says why', t => {
	const {initialize, answer, client} = wrapped();
	initialize();
	answer({protocolVersion: '2027-01-01'});
	t.like(lastOf(client), {id: 'i', error: {code: -31_001}});
	t.regex(JSON.stringify(lastOf(client)), /2027-01-01.*--target-version/);
});

test('edge case 2: a server that refuses a version is asked for older ones, down to the one that it knows', t => {
	const {initialize, answer, client, upstream} = wrapped();
	initialize('2025-06-18');
	for (const expected of ['2025-11-25', '2025-06-18', '2025-03-26']) {
		t.like(lastOf(upstream), {params: {protocolVersion: expected}});
		upstream.send({id: lastOf(upstream).id, error: {code: -32602, message: 'Unsupported protocol version'}});
	}
	answer({protocolVersion: '2024-11-05'});
	t.like(lastOf(client), {id: 'i', result: {protocolVersion: '2025-06-18'}});
	t.is(client.received.length, 1);
});

test('edge case 2: a refusal that names versions leads to the newest of them', t => {
	const {initialize, upstream} = wrapped();
	initialize();
	const data = {supported: ['2024-11-05', '2025-03-26']};
	upstream.send({id: lastOf(upstream).id, error: {code: -32602, message: 'no', data}});
	t.like(lastOf(upstream), {params: {protocolVersion: '2025-03-26'}});
});

test('edge case 4: an answer without version, capabilities and name is completed [E13]', async t => {
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

test('edge case 4: an error that is no refusal of a version is the answer, and what waited fails with it', async t => {
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

test('edge case 5: a server that ends during the handshake fails all that waits, with the reason', t => {
	const {initialize, client, upstream} = wrapped();
	initialize();
	client.send({id: 1, method: 'tools/list'});
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited with code 3.', 'Start it again.'));
	t.like(client.received, [
		{id: 'i', error: {code: -31_004}},
		{id: 1, error: {code: -31_004}},
	]);
});

test('edge case 6: a client that never says initialized is served, and the server hears it all the same', t => {
	const {initialize, answer, client, asked} = wrapped();
	initialize();
	answer();
	client.send({id: 1, method: 'tools/list'});
	t.deepEqual(asked(), ['initialize', 'notifications/initialized', 'tools/list']);
});

test('edge case 7: initialize that takes too long is failed by the time limit, and never cancelled', async t => {
	const {initialize, client, asked} = wrapped({timeoutMs: 20});
	initialize();
	await until(() => client.received.length === 1);
	t.like(lastOf(client), {id: 'i', error: {code: -31_002}});
	t.deepEqual(asked(), ['initialize']);
});

test('edge case 8: what is asked before the server is ready waits in order; a cancelled one is never asked [E12]', t => {
	const {initialize, answer, client, upstream, asked} = wrapped();
	initialize();
	for (const id of [1, 2, 3]) client.send({id, method: 'tools/call', params: {name: `tool ${id}`}});
	client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	client.send({id: 4, method: 'ping'});
	t.like(lastOf(client), {id: 4, result: {}});
	answer();
	t.deepEqual(asked(), ['initialize', 'notifications/initialized', 'tools/call', 'tools/call']);
	t.like(upstream.received.slice(2), [{id: 1}, {id: 3}]);
});

test('edge case 9: a modern client asks what the server is before any handshake, and is told', t => {
	const {client, upstream, answer} = wrapped();
	client.send({id: 'd', method: 'server/discover', params: {_meta: envelope()}});
	t.like(lastOf(upstream), {method: 'initialize', params: {protocolVersion: '2025-11-25', clientInfo}});
	answer();
	t.like(lastOf(client), {id: 'd', result: {supportedVersions: ['2026-07-28'], capabilities: {tools: {}}}});
});

test('edge case 10: a server on stdio is asked to initialize first, for some end at anything else', t => {
	const {client, upstream} = wrapped();
	client.send({id: 1, method: 'tools/list', params: {_meta: envelope()}});
	t.like(upstream.received, [{method: 'initialize'}]);
	t.is(upstream.received.length, 1);
});

test('edge case 11: what a version does not have is told once for each server and feature, and counted', async t => {
	const {ready, client, upstream, logged} = wrapped();
	ready('2025-03-26', '2025-11-25');
	for (const id of [1, 2]) {
		client.send({id, method: 'tools/call', params: {name: 'x'}});
		upstream.send({id, result: {content: [{type: 'resource_link', uri: 'file:///a', name: 'a'}]}});
	}
	t.like(await logged('proxy.feature.lost'), [{server: 'files', feature: 'links to resources'}]);
	t.is((await logged('proxy.feature.lost')).length, 1);
});

test('edge case 13: noise of a server is logged and dropped, in the midst of the handshake, too', async t => {
	const {initialize, answer, client, upstream, logged} = wrapped();
	upstream.sendText('Server is starting …');
	initialize();
	upstream.sendText('still starting');
	answer();
	t.is(client.received.length, 1);
	t.is((await logged('child.stdout.garbage')).length, 2);
});

test('Specification 000, rewrite initialize request: the server receives the target version', t => {
	const {initialize, upstream} = wrapped({targetVersion: '2024-11-05'});
	initialize('2025-06-18');
	t.like(lastOf(upstream), {params: {protocolVersion: '2024-11-05'}});
});

test('Specification 000, rewrite initialize response: the client receives the client version', t => {
	const {initialize, answer, client} = wrapped({targetVersion: '2024-11-05', clientVersion: '2025-03-26'});
	initialize('2025-06-18');
	answer({protocolVersion: '2024-11-05'});
	t.like(lastOf(client), {result: {protocolVersion: '2025-03-26'}});
});

for (const id of ['1.5', '9007199254740993', '12345678901234567890'])
	test(`the id ${id}, which many servers do not answer, is another one upstream, and the client's own again [B6]`, t => {
		const {ready, client, upstream} = wrapped();
		ready('2025-06-18', '2025-11-25');
		client.sendText(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`);
		const {id: told} = lastOf(upstream);
		t.is(typeof told, 'string');
		upstream.send({id: told, result: {tools: []}});
		t.is(client.receivedTexts.at(-1), `{"jsonrpc":"2.0","id":${id},"result":{"tools":[]}}`);
	});
