import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {AntiReplayWindow} from '../../../lib/gateway/cluster/anti-replay-window.js';
import {say, standBetween} from '../../e2e/replicas/between.js';
import {roam, startReplica, startReplicas} from '../../e2e/replicas/support.js';
import {opening} from '../../helpers/bridge.js';
import {program, type RunningGateway} from '../../helpers/gateway.js';

const servers = {puppet: program('puppet')};
const pid = {id: 1, method: 'pid'};

/** Two replicas, with somebody on the way to the first. */
async function overhearing(t: ExecutionContext, change?: (body: Buffer) => Buffer) {
	const owner: {gateway?: RunningGateway} = {};
	const {address, overheard} = await standBetween(t, () => owner.gateway as RunningGateway, change);
	const one = await startReplica(t, {servers, advertise: address});
	owner.gateway = one;
	return {one, two: await startReplica(t, {servers}), overheard};
}

test('what was handed on is good once, for one replica, and with the body that it had [M3]', async t => {
	const {one, two, overheard} = await overhearing(t);
	const client = await roam(one, 'puppet', {authorization: 'Bearer planted'});
	const {result} = await client.ask(one, 'pid');
	t.deepEqual((await client.ask(two, 'pid')).result, result);
	const [heard] = overheard;
	if (!heard) throw new Error('It was handed on.');
	t.is((await say(one, heard)).status, 403);
	t.is(
		(await say(one, {...heard, body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"exit"}')})).status,
		403,
	);
	// Another replica is not the one that it is for.
	const begin = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'initialize', params: opening});
	t.is((await say(two, {...heard, body: Buffer.from(begin)})).status, 404);
	t.deepEqual((await client.ask(two, 'pid')).result, result);
});

test('what was changed between two replicas is refused [M3]', async t => {
	let isChanged = false;
	const change = (body: Buffer): Buffer =>
		isChanged ? Buffer.from(body.toString().replace('echo', 'exit')) : body;
	const {one, two} = await overhearing(t, change);
	const client = await roam(one, 'puppet');
	isChanged = true;
	t.is((await client.post(two, {id: 1, method: 'echo'})).status, 403);
	t.truthy((await client.ask(two, 'pid')).result);
});

test('the session of a client of 2024-11-05 is not named where a request goes by [M3]', async t => {
	const {one, two, overheard} = await overhearing(t);
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

test('an answer that had begun as a stream ends with an error when its replica is gone [M3]', async t => {
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
	const asked = fetch(new URL('/mcp/puppet', two.base), {method: 'POST', headers, body});
	while (((await client.ask(one, 'held')).result as {count: number}).count === 0);
	const params = {progressToken: 'p', progress: 1};
	const progress = `${JSON.stringify({jsonrpc: '2.0', method: 'notifications/progress', params})}\n`;
	await client.post(one, {
		method: 'raw',
		params: {base64: Buffer.from(progress).toString('base64')},
	});
	const reader = (await asked).body?.pipeThrough(new TextDecoderStream()).getReader();
	let text = '';
	while (!text.includes('notifications/progress')) text += (await reader?.read())?.value ?? '';
	one.running.child.kill('SIGKILL');
	for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
	const last = [...text.matchAll(/^data: (\{.*)$/gm)].at(-1)?.[1] ?? '{}';
	t.like(JSON.parse(last), {id: 'held', error: {code: -31001, data: {source: 'bridge'}}});
});

test('who begins anew may still name the session that it had, also when its replica is gone [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers});
	if (!one || !two) throw new Error('There are two.');
	const client = await roam(one, 'puppet');
	const before = client.id;
	await client.begin(two);
	t.not(client.id, before);
	await client.complete(two);
	one.running.child.kill('SIGKILL');
	await one.running.exited;
	t.truthy((await client.ask(two, 'pid')).result);
	client.headers['mcp-session-id'] = before;
	t.is((await client.post(two, pid)).status, 404);
	await client.begin(two);
	await client.complete(two);
	t.truthy((await client.ask(two, 'pid')).result);
});

test('a number is taken once, however mixed up numbers come', t => {
	fc.assert(
		fc.property(
			fc.array(fc.integer({min: 1, max: 30_000}), {maxLength: 300}),
			fc.integer({min: 0, max: 2 ** 40}),
			(given, offset) => {
				const numbered = new AntiReplayWindow();
				const taken = new Set<number>();
				let latest = 0;
				for (const number of given.map(one => one + offset)) {
					const isNew = !taken.has(number);
					const isNear = number > latest - 8192;
					t.is(numbered.accept(number), isNew && isNear);
					if (isNear) taken.add(number);
					latest = Math.max(latest, number);
				}
			},
		),
	);
	for (const wrong of [Number.NaN, 1.5, 2 ** 60]) t.false(new AntiReplayWindow().accept(wrong));
});
