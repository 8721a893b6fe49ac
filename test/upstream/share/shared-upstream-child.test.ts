import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {type MemoryEndpoint, memoryEndpoint} from '../../../lib/core/memory-endpoint.js';
import {connect} from '../../../lib/core/stage.js';
import {child} from '../../../lib/transports/process/child.js';
import {SharedUpstream, type SharedUpstreamOptions} from '../../../lib/upstream/share/shared-upstream.js';
import {wrapStages} from '../../../pipelines/wrap.js';
import {readableLog, until} from '../../helpers/pipeline.js';
import {isRunning} from '../../transports/process/programs.js';
import {join as joinDirectly} from './support.js';

type Json = {readonly [key: string]: unknown};
const PUPPET = fileURLToPath(new URL('../../../fixtures/servers/puppet.js', import.meta.url));

/** A real child with clients, each behind a pipeline as in the gateway. */
function shareChild(t: ExecutionContext, options: Partial<SharedUpstreamOptions> = {}) {
	const {log, entries} = readableLog();
	const upstream = new SharedUpstream({
		name: 'files',
		log,
		open: () => child({name: 'files', command: process.execPath, args: [PUPPET], onStderr: () => {}}),
		backoff: {firstMs: 1, maxMs: 10, stableAfterMs: 30_000},
		...options,
	});
	t.teardown(() => upstream.close());
	const join = (label: string, protocolVersion = '2025-11-25', capabilities: Json = {}): MemoryEndpoint => {
		const client = memoryEndpoint(label);
		const stages = wrapStages({
			log,
			upstream: 'files',
			transport: 'stdio',
			timeoutMs: 60_000,
			isShared: true,
		});
		connect(client, stages, upstream.attach(label));
		const params = {protocolVersion, capabilities, clientInfo: {name: label, version: '1'}};
		client.send({id: 'init', method: 'initialize', params});
		client.send({method: 'notifications/initialized'});
		return client;
	};
	return {upstream, join, entries};
}

const responseTo = ({received}: MemoryEndpoint, id: unknown): Json | undefined =>
	received.find(body => body.id === id && body.method === undefined);

/** Sends a request and waits for its result. */
async function request(client: MemoryEndpoint, id: string, method: string, params: Json = {}): Promise<Json> {
	client.send({id, method, params});
	await until(() => responseTo(client, id) !== undefined);
	return responseTo(client, id)?.result as Json;
}

test.serial(
	'routes 200 calls of each of 50 clients, all with the same ids, through one child [A11]',
	async t => {
		const {upstream, join} = shareChild(t);
		const clients = Array.from({length: 50}, (_, at) => join(`client ${at}`));
		for (let id = 0; id < 200; id++)
			for (const [at, client] of clients.entries())
				client.send({id, method: 'echo', params: {client: at, call: id}});
		await until(() => clients.every(({received}) => received.length === 201));
		for (const [at, {received}] of clients.entries()) {
			const responses = received.slice(1).toSorted((a, b) => Number(a.id) - Number(b.id));
			const expected = Array.from({length: 200}, (_, id) => ({
				jsonrpc: '2.0',
				id,
				result: {client: at, call: id},
			}));
			t.deepEqual(responses, expected);
		}
		t.like(upstream.state, {phase: 'ready', clients: 50, restarts: 0});
	},
);

test.serial('shares one child between clients of different versions, each with its own version', async t => {
	const {join} = shareChild(t);
	const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
	const clients = versions.map(version => join(version, version));
	await until(() => clients.every(client => responseTo(client, 'init')));
	t.deepEqual(
		clients.map(client => (responseTo(client, 'init') as {result: Json}).result.protocolVersion),
		versions,
	);
	const pids = await Promise.all(clients.map(client => request(client, 'p', 'pid')));
	t.is(new Set(pids.map(({pid}) => pid)).size, 1);
});

test.serial('shares a stateless child between clients with a handshake', async t => {
	const SPEAKER = fileURLToPath(new URL('../../../fixtures/servers/speaker.js', import.meta.url));
	const args = [SPEAKER, '2026-07-28'];
	const {join, upstream} = shareChild(t, {
		targetVersion: '2026-07-28',
		open: () => child({name: 'files', command: process.execPath, args, onStderr: () => {}}),
	});
	const clients = ['2024-11-05', '2025-11-25'].map(version => join(version, version));
	for (const client of clients) t.like(await request(client, '1', 'tools/list'), {tools: [{name: 'say'}]});
	t.is(upstream.state.version, '2026-07-28');
});

test.serial('initializes the child once, for any number of clients', async t => {
	const {join} = shareChild(t);
	const [a, b] = [join('a'), join('b')];
	await request(a, '1', 'pid');
	const {lines} = await request(b, '1', 'heard');
	const methods = (lines as string[]).map(line => JSON.parse(line).method);
	t.deepEqual(methods, ['initialize', 'notifications/initialized', 'pid', 'heard']);
});

test.serial(
	'forwards a server request to the client of the call, and its response to the child [D16]',
	async t => {
		const {join} = shareChild(t);
		const [a, b] = [join('a', '2025-11-25', {sampling: {}}), join('b', '2025-11-25', {sampling: {}})];
		await Promise.all([request(a, '0', 'pid'), request(b, '0', 'pid')]);
		const text =
			'{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}\n';
		b.send({id: 1, method: 'raw', params: {base64: Buffer.from(text).toString('base64')}});
		await until(() => b.received.some(({method}) => method === 'sampling/createMessage'));
		const {id} = b.received.find(({method}) => method === 'sampling/createMessage') ?? {};
		b.send({id, result: {role: 'assistant', content: {type: 'text', text: 'hi'}, model: 'm'}});
		const {lines} = await request(b, '2', 'heard');
		t.true((lines as string[]).some(line => line.includes('"id":"q","result"')));
		t.false(a.received.some(({method}) => method === 'sampling/createMessage'));
	},
);

test.serial('restarts a child that exits: pending requests fail, and later requests succeed', async t => {
	const {upstream, join} = shareChild(t);
	const [a, b] = [join('a'), join('b')];
	const {pid} = await request(a, '0', 'pid');
	b.send({id: 1, method: 'hold'});
	await request(b, '0', 'held');
	a.send({id: 1, method: 'exit', params: {code: 3}});
	await until(() => responseTo(a, 1) !== undefined && responseTo(b, 1) !== undefined);
	for (const client of [a, b]) t.like(responseTo(client, 1), {error: {code: -31_004, data: {exitCode: 3}}});
	const next = await request(b, '2', 'pid');
	t.not(next.pid, pid);
	t.like(upstream.state, {phase: 'ready', restarts: 1, clients: 2});
	const {lines} = await request(a, '2', 'heard');
	t.false(
		(lines as string[]).some(line => /hold|exit/.test(line)),
		'nothing is sent twice',
	);
});

test.serial('stops a child that has no clients or is closed', async t => {
	const {upstream, join} = shareChild(t, {idleMs: 1});
	const a = join('a');
	const {pid} = await request(a, '0', 'pid');
	a.end();
	await until(() => upstream.state.phase === 'idle');
	await until(() => !isRunning(Number(pid)));
	const b = join('b');
	const next = await request(b, '0', 'pid');
	await upstream.close();
	t.false(isRunning(Number(next.pid)));
});

test.serial('reports a command that does not exist to the client', async t => {
	const {upstream, join} = shareChild(t, {
		open: () => child({name: 'files', command: 'no-such-command-of-any-kind', onStderr: () => {}}),
	});
	const a = join('a');
	await until(() => responseTo(a, 'init') !== undefined);
	t.like(responseTo(a, 'init'), {error: {code: -31_001}});
	t.regex(upstream.state.lastError ?? '', /no such command/);
});

test.serial('delivers a flood to clients that read, and disconnects the one that does not [F3]', async t => {
	const FLOOD = fileURLToPath(new URL('../../../fixtures/servers/flood.js', import.meta.url));
	const bytes = 32 * 2 ** 20;
	const {join, upstream, entries} = shareChild(t, {
		maxUnreadBytes: 2 ** 20,
		open: () =>
			child({
				name: 'files',
				command: process.execPath,
				args: [FLOOD, String(bytes), '1000', '--ready'],
				onStderr: () => {},
			}),
	});
	const slow = joinDirectly(upstream, 'slow');
	slow.onMessage = ({head, origin}) => {
		if (head.method !== undefined) origin.valve.shut();
	};
	slow.initialize();
	const fast = join('fast');
	await until(() => fast.received.length > bytes / 1001);
	t.like(await slow.ended, {code: 'ERR_SESSION_STALLED'});
	t.true(slow.received.length < 10, 'it received no more than it read');
	t.is(upstream.state.clients, 1);
	t.is((await entries()).filter(({event}) => event === 'sse.slow_client').length, 1);
});
