import {createServer} from 'node:http';
import test from 'ava';
import {opening} from '../../helpers/bridge.js';
import {program} from '../../helpers/gateway.js';
import {eventsOf} from './events.js';
import {startIntermediary} from './intermediary.js';
import {Roamer, roam, startReplica, startReplicas} from './support.js';

const servers = {puppet: program('puppet')};

test('forwards requests of a session with a child to its owner [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers, tokens: ['t0ken-of-sixteen-characters']});
	if (!one || !two) throw new Error('Two replicas are required.');
	const client = new Roamer('puppet', {
		'x-bridge-token': 't0ken-of-sixteen-characters',
		authorization: 'Bearer planted',
	});
	await client.begin(one);
	await client.complete(two);
	const {result} = await client.ask(one, 'pid');
	t.deepEqual((await client.ask(two, 'pid')).result, result);
	t.deepEqual((await client.ask(two, 'echo', {word: 'é'})).result, {word: 'é'});
	// Another principal gets 404, and a client without a token 401.
	const token = {'x-bridge-token': 't0ken-of-sixteen-characters'};
	const id = {'mcp-session-id': client.id};
	t.is((await two.post('puppet', {id: 1, method: 'pid'}, {...token, ...id})).status, 404);
	t.is((await two.post('puppet', {id: 1, method: 'pid'}, id)).status, 401);
	// DELETE ends the session and its GET stream.
	const listening = await eventsOf(t, two, client);
	t.is((await two.fetch('/mcp/puppet', {method: 'DELETE', headers: client.headers})).status, 200);
	await listening.ended;
	for (const gateway of [one, two]) t.is((await client.post(gateway, {id: 1, method: 'pid'})).status, 404);
	for (const {running} of [one, two]) t.false(running.stderr.includes('planted'));
});

test('forwards hub sessions and HTTP+SSE of 2024-11-05 to their owner [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers, expose: 'tools'});
	if (!one || !two) throw new Error('Two replicas are required.');
	const client = await roam(one, '');
	t.truthy((await client.ask(two, 'tools/list')).result);
	const stream = await fetch(new URL('/mcp/puppet/sse', one.base), {headers: {accept: 'text/event-stream'}});
	const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
	t.teardown(() => reader?.cancel());
	let text = '';
	const received = async (pattern: RegExp): Promise<string> => {
		while (!pattern.test(text)) text += (await reader?.read())?.value ?? '';
		return pattern.exec(text)?.[1] ?? '';
	};
	const path = await received(/^data: (\/mcp\/puppet\/message\S+)\n/m);
	const body = JSON.stringify({jsonrpc: '2.0', id: 'first', method: 'initialize', params: opening});
	const headers = {'content-type': 'application/json'};
	t.is((await two.fetch(path, {method: 'POST', headers, body})).status, 202);
	await received(/("id":"first","result")/);
	t.pass();
});

test('fails pending calls of a replica that exits, and rejects its sessions as unknown [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers});
	if (!one || !two) throw new Error('Two replicas are required.');
	const client = await roam(one, 'puppet');
	const pending = client.post(two, {id: 'held', method: 'hold'});
	const heldCalls = async (): Promise<unknown> => (await client.ask(two, 'held')).result;
	while (((await heldCalls()) as {count: number}).count === 0);
	one.running.child.kill('SIGKILL');
	const {status, text} = await pending;
	t.is(status, 502);
	t.like(JSON.parse(text), {id: 'held', error: {code: -31001, data: {source: 'bridge'}}});
	await one.running.exited;
	// Later requests get 404 at once.
	const rejected = await client.post(two, {id: 1, method: 'pid'});
	t.is(rejected.status, 404);
	// A replica started in its place does not have the session either.
	const successor = await startReplica(t, {servers}, one.port);
	t.is((await client.post(two, {id: 1, method: 'pid'})).text, rejected.text);
	t.is((await client.post(successor, {id: 1, method: 'pid'})).text, rejected.text);
	await client.begin(two);
	await client.complete(successor);
	t.truthy((await client.ask(successor, 'pid')).result);
});

test('forwards a request at most once, even with wrong replica addresses [M3]', async t => {
	const {address: advertise, requests} = await startIntermediary(t, () => two);
	const [one, two] = await Promise.all([
		startReplica(t, {servers, advertise}),
		startReplica(t, {servers, advertise}),
	]);
	const client = await roam(one, 'puppet');
	t.is((await client.post(two, {id: 1, method: 'pid'})).status, 404);
	t.is(requests.length, 1);
	t.truthy((await client.ask(one, 'pid')).result);
});

test('rejects a forged forwarding header [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers});
	if (!one || !two) throw new Error('Two replicas are required.');
	const client = await roam(one, 'puppet');
	for (const forged of ['', 'b1.', client.id]) {
		const headers = {...client.headers, 'x-bridge-forwarded': forged};
		t.is((await one.post('puppet', {id: 1, method: 'pid'}, headers)).status, 403);
	}
});

test('leaks no secret to an impostor at the address of a replica, and accepts no response from it [M3]', async t => {
	const received: string[] = [];
	const one = await startReplica(t, {servers});
	const two = await startReplica(t, {servers});
	const client = await roam(one, 'puppet', {authorization: 'Bearer planted'});
	one.running.child.kill('SIGKILL');
	await one.running.exited;
	const impostor = createServer((req, res) => {
		received.push(JSON.stringify(req.rawHeaders));
		res.writeHead(200, {'content-type': 'application/json'}).end('{"jsonrpc":"2.0","id":1,"result":{}}');
	});
	await new Promise<void>(resolve => impostor.listen(one.port, '127.0.0.1', resolve));
	t.teardown(() => impostor.close());
	t.is((await client.post(two, {id: 1, method: 'pid'})).status, 404);
	t.is(received.length, 1);
	t.false(received[0]?.includes('planted'));
	t.false(received[0]?.includes(client.id));
});
