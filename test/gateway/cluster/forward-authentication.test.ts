import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {AntiReplayWindow} from '../../../lib/gateway/cluster/anti-replay-window.js';
import {sendRequest, startIntermediary} from '../../e2e/replicas/intermediary.js';
import {roam, startReplica, startReplicas} from '../../e2e/replicas/support.js';
import {opening} from '../../helpers/bridge.js';
import {program, type RunningGateway} from '../../helpers/gateway.js';

const servers = {puppet: program('puppet')};
const pid = {id: 1, method: 'pid'};

/** Two replicas, with an eavesdropper on the path to the first. */
async function startWithEavesdropper(t: ExecutionContext, change?: (body: Buffer) => Buffer) {
	const owner: {gateway?: RunningGateway} = {};
	const {address, requests: overheard} = await startIntermediary(
		t,
		() => owner.gateway as RunningGateway,
		change,
	);
	const one = await startReplica(t, {servers, advertise: address});
	owner.gateway = one;
	return {one, two: await startReplica(t, {servers}), overheard};
}

test('accepts a forwarded request once, at one replica, and only with its original body [M3]', async t => {
	const {one, two, overheard} = await startWithEavesdropper(t);
	const client = await roam(one, 'puppet', {authorization: 'Bearer planted'});
	const {result} = await client.ask(one, 'pid');
	t.deepEqual((await client.ask(two, 'pid')).result, result);
	const [heard] = overheard;
	if (!heard) throw new Error('No request was forwarded.');
	t.is((await sendRequest(one, heard)).status, 403);
	t.is(
		(await sendRequest(one, {...heard, body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"exit"}')}))
			.status,
		403,
	);
	// Another replica is not the one that it is for.
	const begin = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'initialize', params: opening});
	t.is((await sendRequest(two, {...heard, body: Buffer.from(begin)})).status, 404);
	t.deepEqual((await client.ask(two, 'pid')).result, result);
});

test('rejects a request that was changed between two replicas [M3]', async t => {
	let isChanged = false;
	const change = (body: Buffer): Buffer =>
		isChanged ? Buffer.from(body.toString().replace('echo', 'exit')) : body;
	const {one, two} = await startWithEavesdropper(t, change);
	const client = await roam(one, 'puppet');
	isChanged = true;
	t.is((await client.post(two, {id: 1, method: 'echo'})).status, 403);
	t.truthy((await client.ask(two, 'pid')).result);
});

test('a forwarded request does not reveal the session id of a client of 2024-11-05 [M3]', async t => {
	const {one, two, overheard} = await startWithEavesdropper(t);
	const stream = await fetch(new URL('/mcp/puppet/sse', one.base), {headers: {accept: 'text/event-stream'}});
	const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
	t.teardown(() => reader?.cancel());
	let text = '';
	while (!/^data: \S+\n/m.test(text)) text += (await reader?.read())?.value ?? '';
	const path = /^data: (\S+)\n/m.exec(text)?.[1] ?? '';
	const body = JSON.stringify({jsonrpc: '2.0', id: 'first', method: 'initialize', params: opening});
	const headers = {'content-type': 'application/json'};
	t.is((await two.fetch(path, {method: 'POST', headers, body})).status, 202);
	t.deepEqual(
		overheard.map(({url}) => url),
		['/mcp/puppet/message'],
	);
	const id = new URL(path, one.base).searchParams.get('sessionId');
	t.truthy(id);
	t.false(JSON.stringify(overheard).includes(String(id)));
});

test('a response that began as a stream ends with an error when its replica is killed [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers});
	if (!one || !two) throw new Error('There are two.');
	const client = await roam(one, 'puppet');
	const body = JSON.stringify({
		jsonrpc: '2.0',
		id: 'held',
		method: 'hold',
		params: {_meta: {progressToken: 'p'}},
	});
	const headers = {
		...client.headers,
		'content-type': 'application/json',
		accept: 'application/json, text/event-stream',
	};
	const pending = fetch(new URL('/mcp/puppet', two.base), {method: 'POST', headers, body});
	while (((await client.ask(one, 'held')).result as {count: number}).count === 0);
	const params = {progressToken: 'p', progress: 1};
	const progress = `${JSON.stringify({jsonrpc: '2.0', method: 'notifications/progress', params})}\n`;
	await client.post(one, {
		method: 'raw',
		params: {base64: Buffer.from(progress).toString('base64')},
	});
	const reader = (await pending).body?.pipeThrough(new TextDecoderStream()).getReader();
	let text = '';
	while (!text.includes('notifications/progress')) text += (await reader?.read())?.value ?? '';
	one.running.child.kill('SIGKILL');
	for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
	const last = [...text.matchAll(/^data: (\{.*)$/gm)].at(-1)?.[1] ?? '{}';
	t.like(JSON.parse(last), {id: 'held', error: {code: -31001, data: {source: 'bridge'}}});
});

test('accepts initialize with an old session id, also when the replica of that session was killed [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers});
	if (!one || !two) throw new Error('There are two.');
	const client = await roam(one, 'puppet');
	const oldId = client.id;
	await client.begin(two);
	t.not(client.id, oldId);
	await client.complete(two);
	one.running.child.kill('SIGKILL');
	await one.running.exited;
	t.truthy((await client.ask(two, 'pid')).result);
	client.headers['mcp-session-id'] = oldId;
	t.is((await client.post(two, pid)).status, 404);
	await client.begin(two);
	await client.complete(two);
	t.truthy((await client.ask(two, 'pid')).result);
});

test('the anti-replay window accepts each number once, in any order', t => {
	fc.assert(
		fc.property(
			fc.array(fc.integer({min: 1, max: 30_000}), {maxLength: 300}),
			fc.integer({min: 0, max: 2 ** 40}),
			(numbers, offset) => {
				const window = new AntiReplayWindow();
				const accepted = new Set<number>();
				let latest = 0;
				for (const number of numbers.map(one => one + offset)) {
					const isNew = !accepted.has(number);
					const isNear = number > latest - 8192;
					t.is(window.accept(number), isNew && isNear);
					if (isNear) accepted.add(number);
					latest = Math.max(latest, number);
				}
			},
		),
	);
	for (const wrong of [Number.NaN, 1.5, 2 ** 60]) t.false(new AntiReplayWindow().accept(wrong));
});
