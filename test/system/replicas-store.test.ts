import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {RunningGateway} from '../helpers/gateway.js';
import {program} from '../helpers/gateway.js';
import {event, startUpstream, stream, type Upstream} from '../helpers/upstream.js';
import {eventsOf} from '../replicas/events.js';
import {type Roamer, roam, SECRET, startReplicas} from '../replicas/support.js';
import {becomes, load, newClients, startBalancer} from './balanced.js';
import {type RunningRedis, startRedis, userOfDocs} from './redis.js';

type Setting = {
	readonly redis: RunningRedis;
	readonly upstream: Upstream;
	readonly one: RunningGateway;
	readonly two: RunningGateway;
};

/** Two replicas that share a store. */
async function setting(t: ExecutionContext): Promise<Setting> {
	const redis = await startRedis(t, userOfDocs());
	const upstream = await startUpstream(t);
	const servers = {
		http: {url: upstream.url, cacheTools: true},
		plain: {url: upstream.url},
		puppet: program('puppet'),
	};
	const store = `redis://bridge:planted-password@127.0.0.1:${redis.port}`;
	const [one, two] = await startReplicas(t, 2, {servers, store, limits: {rate: '1000/h'}});
	if (!one || !two) throw new Error('There are two.');
	for (const gateway of [one, two]) await becomes(gateway, 'ready');
	return {redis, upstream, one, two};
}

/** Whether each change of the store's state was told, and told once. */
function isToldOnce(stderr: string): boolean {
	const told = [...stderr.matchAll(/"store\.(down|up)"/g)].map(([, state]) => state);
	return told.length > 1 && told.every((state, at) => state === (at % 2 === 0 ? 'down' : 'up'));
}

const toolsOf = async (client: Roamer, gateway: RunningGateway): Promise<unknown> => {
	const {result} = await client.ask(gateway, 'tools/list');
	return (result as {tools: Array<{name: string}>}).tools.map(({name}) => name);
};

const tool = (name: string) => ({name, inputSchema: {type: 'object'}});
const changed = event({method: 'notifications/tools/list_changed'});

test('M5 other tools are told to the clients of all replicas, and looked for when the store was away', async t => {
	const {redis, upstream, one, two} = await setting(t);
	const first = await roam(one, 'http');
	const second = await roam(two, 'http');
	await eventsOf(t, one, first);
	await upstream.meets('GET');
	const heard = await eventsOf(t, two, second);
	await upstream.meets('GET', 2);
	t.deepEqual(await toolsOf(first, one), ['echo']);
	t.deepEqual(await toolsOf(second, two), ['echo']);
	// Whatever it was told of the list at first.
	const news = async (count: number): Promise<void> => {
		const told = (): number => heard.events.filter(({data}) => data.includes('list_changed')).length;
		while (told() < count) await sleep(20);
	};
	await news(1);
	upstream.tools = [tool('echo'), tool('other')];
	upstream.streams[0]?.write(changed);
	await news(2);
	t.deepEqual(await toolsOf(second, two), ['echo', 'other']);
	await redis.kill();
	for (const gateway of [one, two]) await becomes(gateway, 'degraded');
	upstream.tools = [tool('third')];
	upstream.streams[0]?.write(changed);
	await redis.start();
	await news(3);
	t.deepEqual(await toolsOf(second, two), ['third']);
	for (const {running} of [one, two]) {
		await running.says(/"store\.up"/);
		t.true(isToldOnce(running.stderr));
	}
});

/** Has the server begin to answer with events, and gives what goes on with that. */
function slowAnswer(upstream: Upstream): Promise<(message: object) => void> {
	return new Promise(resolve => {
		upstream.mood = met => {
			if (met.message.method !== 'tools/call') return false;
			const response = stream(met, event(progress(0)));
			resolve(message => response.write(event({...message})));
			return true;
		};
	});
}

const progress = (n: number) => ({
	method: 'notifications/progress',
	params: {progressToken: 'p', progress: n},
});

/** Calls, reads the first event of the answer, and hangs up. Resolves to the id of that event. */
async function callAndLeave(gateway: RunningGateway, {service, headers}: Roamer): Promise<string> {
	const stop = new AbortController();
	const params = {name: 'echo', arguments: {}, _meta: {progressToken: 'p'}};
	const response = await fetch(new URL(`/mcp/${service}`, gateway.base), {
		method: 'POST',
		headers: {...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream'},
		body: JSON.stringify({jsonrpc: '2.0', id: 'call', method: 'tools/call', params}),
		signal: stop.signal,
	});
	const reader = response.body?.getReader();
	let text = '';
	while (!/^id: \S+\ndata: .+"progress":0/m.test(text))
		text += Buffer.from((await reader?.read())?.value ?? '').toString();
	stop.abort();
	return /^id: (\S+)\ndata: .+"progress":0/m.exec(text)?.[1] ?? '';
}

test('D8 an answer is heard to its end at another replica: no event is lost, and none comes twice', async t => {
	const {upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const begun = slowAnswer(upstream);
	const place = await callAndLeave(one, client);
	const say = await begun;
	for (const n of [1, 2, 3]) say(progress(n));
	const rest = await eventsOf(t, two, client, place);
	for (const n of [1, 2, 3]) t.regex(await rest.next(), new RegExp(`"progress":${n}\\b`));
	for (const n of [4, 5]) say(progress(n));
	for (const n of [4, 5]) t.regex(await rest.next(), new RegExp(`"progress":${n}\\b`));
	say({id: 'call', result: {content: []}});
	t.regex(await rest.next(), /"id":"call","result"/);
	await rest.ended;
	t.is(rest.events.length, 6);
	// Who comes back once more, from wherever, hears what is behind that place.
	const again = await eventsOf(t, one, client, rest.events[3]?.id);
	await again.ended;
	t.deepEqual(
		again.events.map(({data}) => data),
		rest.events.slice(4).map(({data}) => data),
	);
});

test('D8 who waits for the answer of a replica that was killed gets an error', async t => {
	const {upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const begun = slowAnswer(upstream);
	const place = await callAndLeave(one, client);
	await begun;
	const rest = await eventsOf(t, two, client, place);
	one.running.child.kill('SIGKILL');
	t.like(JSON.parse(await rest.next()), {id: 'call', error: {code: -31001}});
	await rest.ended;
});

test('D8 an answer with more events than are kept goes on at another replica', async t => {
	const {upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const begun = slowAnswer(upstream);
	const place = await callAndLeave(one, client);
	const say = await begun;
	const many = 1500;
	for (let n = 1; n <= many; n++) say(progress(n));
	const whole = await eventsOf(t, one, client, place);
	while (!(await whole.next()).includes(`"progress":${many}}`));
	// Of the first, only the newest are there still; the second has missed nothing.
	const late = await eventsOf(t, two, client, place);
	const rest = await eventsOf(t, two, client, whole.events.at(-1)?.id);
	say(progress(many + 1));
	say({id: 'call', result: {content: []}});
	await Promise.all([late.ended, rest.ended]);
	const numbers = [late, rest].map(({events}) =>
		events.map(({data}) => JSON.parse(data)).map(({params, result}) => (result ? 'answer' : params.progress)),
	);
	t.deepEqual(numbers[1], [many + 1, 'answer']);
	t.true((numbers[0]?.length ?? 0) > 900);
	t.deepEqual(numbers[0]?.slice(-3), [many, many + 1, 'answer']);
});

test('D8 a store that has lost everything: an answer that is to come is heard, one that came meanwhile is an error', async t => {
	const {redis, upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const call = async () => {
		const begun = slowAnswer(upstream);
		const place = await callAndLeave(one, client);
		return {place, say: await begun, rest: await eventsOf(t, two, client, place)};
	};
	const [early, late] = [await call(), await call()];
	await redis.kill();
	for (const gateway of [one, two]) await becomes(gateway, 'degraded');
	early.say({id: 'call', result: {content: []}});
	await (await eventsOf(t, one, client, early.place)).ended;
	await redis.start();
	t.like(JSON.parse(await early.rest.next()), {id: 'call', error: {code: -31001}});
	await early.rest.ended;
	late.say({id: 'call', result: {content: []}});
	t.regex(await late.rest.next(), /"id":"call","result"/);
	await late.rest.ended;
});

test('M7 neither the store nor any log holds a secret, the id of a session, or what was said', async t => {
	const {redis, upstream, one, two} = await setting(t);
	upstream.tools = [tool('planted-tool')];
	const client = await roam(one, 'http', {authorization: 'Bearer planted-authorization'});
	t.deepEqual(await toolsOf(client, two), ['planted-tool']);
	const begun = slowAnswer(upstream);
	const place = await callAndLeave(one, client);
	const say = await begun;
	say({id: 'call', result: {content: [{type: 'text', text: 'planted-body'}]}});
	const rest = await eventsOf(t, two, client, place);
	await rest.ended;
	t.regex(rest.events.map(({data}) => data).join(''), /planted-body/);
	const child = await roam(one, 'puppet', {authorization: 'Bearer planted-authorization'});
	t.truthy((await child.ask(two, 'pid')).result);
	const keys = (await redis.cli(['KEYS', '*'])).split('\n');
	const kinds = ['events:', 'tools:', 'owner:', 'fence', 'last:', 'rate:'];
	for (const kind of kinds)
		t.true(
			keys.some(key => key.startsWith(`bridge:${kind}`)),
			kind,
		);
	// Nothing is asked that a user of just these rights may not ask.
	t.is(await redis.cli(['ACL', 'LOG']), '');
	let dump = keys.join('\n');
	for (const key of keys) {
		const type = await redis.cli(['TYPE', key]);
		dump += await redis.cli(type === 'stream' ? ['XRANGE', key, '-', '+'] : ['GET', key]);
	}
	t.true(dump.length > 500);
	const [upstreamSession = ''] = upstream.sessions;
	for (const text of [dump, one.running.stderr, two.running.stderr])
		for (const secret of [/planted/, SECRET, client.id, child.id, upstreamSession].map(
			one => new RegExp(one),
		))
			t.notRegex(text, secret);
});

test('M4 a store that is killed and started again under load fails nobody', async t => {
	t.timeout(300_000);
	const redis = await startRedis(t);
	const upstream = await startUpstream(t);
	upstream.mood = () => {
		upstream.met.length = 0;
		return false;
	};
	const servers = {
		http: {url: upstream.url, cacheTools: true},
		shared: {...program('puppet'), shared: true},
	};
	const replicas = await startReplicas(t, 3, {servers, store: `redis://127.0.0.1:${redis.port}`});
	const clients = await newClients(t, await startBalancer(t, replicas), {http: 20, shared: 10});
	const answered = (): number => clients.reduce((sum, one) => sum + one.answered, 0);
	let isOver = false;
	const loaded = load(clients, () => isOver);
	const goOn = async (count: number): Promise<void> => {
		const before = answered();
		while (answered() < before + count) await sleep(20);
	};
	await goOn(500);
	await redis.kill();
	for (const gateway of replicas) await becomes(gateway, 'degraded');
	await goOn(500);
	await redis.start();
	for (const gateway of replicas) await becomes(gateway, 'ready');
	await goOn(500);
	isOver = true;
	await loaded;
	t.deepEqual(
		clients.flatMap(({failures}) => failures),
		[],
	);
	t.true(clients.every(({renewals}) => renewals === 0));
	for (const {running} of replicas) t.true(isToldOnce(running.stderr));
});
