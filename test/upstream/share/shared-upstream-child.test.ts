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
import {join as joinAlone} from './support.js';

type Json = {readonly [key: string]: unknown};
const PUPPET = fileURLToPath(new URL('../../../fixtures/servers/puppet.js', import.meta.url));

/** One real child, and clients in front of it as the gateway puts them there. */
function house(t: ExecutionContext, options: Partial<SharedUpstreamOptions> = {}) {
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

const answerTo = ({received: heard}: MemoryEndpoint, id: unknown): Json | undefined =>
	heard.find(body => body.id === id && body.method === undefined);

/** Asks something, and waits for what is answered. */
async function ask(client: MemoryEndpoint, id: string, method: string, params: Json = {}): Promise<Json> {
	client.send({id, method, params});
	await until(() => answerTo(client, id) !== undefined);
	return answerTo(client, id)?.result as Json;
}

test.serial('50 clients with 200 calls each, all with the same ids, through one child [A11]', async t => {
	const {upstream, join} = house(t);
	const clients = Array.from({length: 50}, (_, at) => join(`client ${at}`));
	for (let id = 0; id < 200; id++)
		for (const [at, client] of clients.entries())
			client.send({id, method: 'echo', params: {caller: at, call: id}});
	await until(() => clients.every(({received: heard}) => heard.length === 201));
	for (const [at, {received: heard}] of clients.entries()) {
		const answers = heard.slice(1).toSorted((a, b) => Number(a.id) - Number(b.id));
		const wanted = Array.from({length: 200}, (_, id) => ({
			jsonrpc: '2.0',
			id,
			result: {caller: at, call: id},
		}));
		t.deepEqual(answers, wanted);
	}
	t.like(upstream.state, {phase: 'ready', clients: 50, restarts: 0});
});

test.serial('clients of different versions share one child, and each hears its own version', async t => {
	const {join} = house(t);
	const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
	const clients = versions.map(version => join(version, version));
	await until(() => clients.every(client => answerTo(client, 'init')));
	t.deepEqual(
		clients.map(client => (answerTo(client, 'init') as {result: Json}).result.protocolVersion),
		versions,
	);
	const pids = await Promise.all(clients.map(client => ask(client, 'p', 'pid')));
	t.is(new Set(pids.map(({pid}) => pid)).size, 1);
});

test.serial('a child without a handshake is shared by clients with one', async t => {
	const SPEAKER = fileURLToPath(new URL('../../../fixtures/servers/speaker.js', import.meta.url));
	const args = [SPEAKER, '2026-07-28'];
	const {join, upstream} = house(t, {
		targetVersion: '2026-07-28',
		open: () => child({name: 'files', command: process.execPath, args, onStderr: () => {}}),
	});
	const clients = ['2024-11-05', '2025-11-25'].map(version => join(version, version));
	for (const client of clients) t.like(await ask(client, '1', 'tools/list'), {tools: [{name: 'say'}]});
	t.is(upstream.state.version, '2026-07-28');
});

test.serial('the child hears one handshake, however many clients there are', async t => {
	const {join} = house(t);
	const [a, b] = [join('a'), join('b')];
	await ask(a, '1', 'pid');
	const {lines} = await ask(b, '1', 'heard');
	const methods = (lines as string[]).map(line => JSON.parse(line).method);
	t.deepEqual(methods, ['initialize', 'notifications/initialized', 'pid', 'heard']);
});

test.serial(
	'a question of a child reaches the client that made it ask, and the answer the child [D16]',
	async t => {
		const {join} = house(t);
		const [a, b] = [join('a', '2025-11-25', {sampling: {}}), join('b', '2025-11-25', {sampling: {}})];
		await Promise.all([ask(a, '0', 'pid'), ask(b, '0', 'pid')]);
		const text =
			'{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}\n';
		b.send({id: 1, method: 'raw', params: {base64: Buffer.from(text).toString('base64')}});
		await until(() => b.received.some(({method}) => method === 'sampling/createMessage'));
		const {id} = b.received.find(({method}) => method === 'sampling/createMessage') ?? {};
		b.send({id, result: {role: 'assistant', content: {type: 'text', text: 'hi'}, model: 'm'}});
		const {lines} = await ask(b, '2', 'heard');
		t.true((lines as string[]).some(line => line.includes('"id":"q","result"')));
		t.false(a.received.some(({method}) => method === 'sampling/createMessage'));
	},
);

test.serial(
	'a child that dies is started again: what it was asked fails, and what is asked next is answered',
	async t => {
		const {upstream, join} = house(t);
		const [a, b] = [join('a'), join('b')];
		const {pid} = await ask(a, '0', 'pid');
		b.send({id: 1, method: 'hold'});
		await ask(b, '0', 'held');
		a.send({id: 1, method: 'exit', params: {code: 3}});
		await until(() => answerTo(a, 1) !== undefined && answerTo(b, 1) !== undefined);
		for (const client of [a, b]) t.like(answerTo(client, 1), {error: {code: -31_004, data: {exitCode: 3}}});
		const next = await ask(b, '2', 'pid');
		t.not(next.pid, pid);
		t.like(upstream.state, {phase: 'ready', restarts: 1, clients: 2});
		const {lines} = await ask(a, '2', 'heard');
		t.false(
			(lines as string[]).some(line => /hold|exit/.test(line)),
			'nothing is sent twice',
		);
	},
);

test.serial('a child that nobody needs is ended, and so is one that is closed', async t => {
	const {upstream, join} = house(t, {idleMs: 1});
	const a = join('a');
	const {pid} = await ask(a, '0', 'pid');
	a.end();
	await until(() => upstream.state.phase === 'idle');
	await until(() => !isRunning(Number(pid)));
	const b = join('b');
	const next = await ask(b, '0', 'pid');
	await upstream.close();
	t.false(isRunning(Number(next.pid)));
});

test.serial('a command that does not exist is told to who asks', async t => {
	const {upstream, join} = house(t, {
		open: () => child({name: 'files', command: 'no-such-command-of-any-kind', onStderr: () => {}}),
	});
	const a = join('a');
	await until(() => answerTo(a, 'init') !== undefined);
	t.like(answerTo(a, 'init'), {error: {code: -31_001}});
	t.regex(upstream.state.lastError ?? '', /no such command/);
});

test.serial('a flood reaches those who read, and ends the one who does not [F3]', async t => {
	const FLOOD = fileURLToPath(new URL('../../../fixtures/servers/flood.js', import.meta.url));
	const bytes = 32 * 2 ** 20;
	const {join, upstream, entries} = house(t, {
		maxUnreadBytes: 2 ** 20,
		open: () =>
			child({
				name: 'files',
				command: process.execPath,
				args: [FLOOD, String(bytes), '1000', '--ready'],
				onStderr: () => {},
			}),
	});
	const slow = joinAlone(upstream, 'slow');
	slow.onHeard = ({head, origin}) => {
		if (head.method !== undefined) origin.valve.shut();
	};
	slow.greet();
	const fast = join('fast');
	await until(() => fast.received.length > bytes / 1001);
	t.like(await slow.ended, {code: 'ERR_SESSION_STALLED'});
	t.true(slow.heard.length < 10, 'it has heard no more than it has read');
	t.is(upstream.state.clients, 1);
	t.is((await entries()).filter(({event}) => event === 'sse.slow_client').length, 1);
});
