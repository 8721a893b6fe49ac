import {once} from 'node:events';
import test from 'ava';
import {eventsOf, type Listening} from '../e2e/replicas/events.js';
import {roam} from '../e2e/replicas/support.js';
import {event} from '../helpers/upstream.js';
import {becomes} from './balanced.js';
import {callAndDisconnect, progress, setting, slowResponse} from './two-replicas.js';

test('another replica resumes a response stream without lost or duplicate events [D8]', async t => {
	const {upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const started = slowResponse(upstream);
	const place = await callAndDisconnect(one, client);
	const send = await started;
	for (const n of [1, 2, 3]) send(progress(n));
	const rest = await eventsOf(t, two, client, place);
	for (const n of [1, 2, 3]) t.regex(await rest.next(), new RegExp(`"progress":${n}\\b`));
	for (const n of [4, 5]) send(progress(n));
	for (const n of [4, 5]) t.regex(await rest.next(), new RegExp(`"progress":${n}\\b`));
	send({id: 'call', result: {content: []}});
	t.regex(await rest.next(), /"id":"call","result"/);
	await rest.ended;
	t.is(rest.events.length, 6);
	// A client that resumes again, from any replica, gets the events after its last event id.
	const again = await eventsOf(t, one, client, rest.events[3]?.id);
	await again.ended;
	t.deepEqual(
		again.events.map(({data}) => data),
		rest.events.slice(4).map(({data}) => data),
	);
});

test('a client that waits for a response of a killed replica gets an error [D8]', async t => {
	const {upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const started = slowResponse(upstream);
	const place = await callAndDisconnect(one, client);
	await started;
	const rest = await eventsOf(t, two, client, place);
	one.running.child.kill('SIGKILL');
	t.like(JSON.parse(await rest.next()), {id: 'call', error: {code: -31001}});
	await rest.ended;
});

test('another replica resumes a response with more events than the store keeps [D8]', async t => {
	const {upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const started = slowResponse(upstream);
	const place = await callAndDisconnect(one, client);
	const send = await started;
	const many = 1500;
	for (let n = 1; n <= many; n++) send(progress(n));
	const whole = await eventsOf(t, one, client, place);
	while (!(await whole.next()).includes(`"progress":${many}}`));
	// The store has dropped the oldest events of the first stream; the second one has missed none.
	const late = await eventsOf(t, two, client, place);
	const rest = await eventsOf(t, two, client, whole.events.at(-1)?.id);
	send(progress(many + 1));
	send({id: 'call', result: {content: []}});
	await Promise.all([late.ended, rest.ended]);
	const numbers = [late, rest].map(({events}) =>
		events.map(({data}) => JSON.parse(data)).map(({params, result}) => (result ? 'result' : params.progress)),
	);
	t.deepEqual(numbers[1], [many + 1, 'result']);
	t.true((numbers[0]?.length ?? 0) > 900);
	t.deepEqual(numbers[0]?.slice(-3), [many, many + 1, 'result']);
});

test('another replica returns an error for a response too large for the store [D8]', async t => {
	const {upstream, one, two} = await setting(t);
	const client = await roam(one, 'plain');
	const started = slowResponse(upstream);
	const rest = await eventsOf(t, two, client, await callAndDisconnect(one, client));
	const send = await started;
	send({id: 'call', result: {content: [{type: 'text', text: 'x'.repeat(5 * 2 ** 20)}]}});
	t.like(JSON.parse(await rest.next()), {id: 'call', error: {code: -31001}});
	await rest.ended;
});

test('after a store loses its data, later responses arrive and earlier ones return an error [D8]', async t => {
	const {redis, upstream, one, two} = await setting(t);
	const call = async () => {
		const client = await roam(one, 'plain');
		const started = slowResponse(upstream);
		const place = await callAndDisconnect(one, client);
		return {client, place, send: await started, rest: await eventsOf(t, two, client, place)};
	};
	const [early, late] = [await call(), await call()];
	await redis.kill();
	for (const gateway of [one, two]) await becomes(gateway, 'degraded');
	early.send({id: 'call', result: {content: []}});
	await (await eventsOf(t, one, early.client, early.place)).ended;
	await redis.start();
	t.like(JSON.parse(await early.rest.next()), {id: 'call', error: {code: -31001}});
	await early.rest.ended;
	late.send({id: 'call', result: {content: []}});
	t.regex(await late.rest.next(), /"id":"call","result"/);
	await late.rest.ended;
});

const remark = (n: number) => ({
	jsonrpc: '2.0',
	method: 'notifications/message',
	params: {level: 'info', data: n},
});

/** The numbers in the received messages, without empty priming events. */
const numbersOf = ({events}: Listening): number[] =>
	events.flatMap(({data}) => (data === '' ? [] : [JSON.parse(data).params.data]));

const receives = async (listening: Listening, ...numbers: readonly number[]): Promise<void> => {
	for (const n of numbers) while (JSON.parse(await listening.next()).params.data !== n);
};

const idOf = ({events}: Listening, n: number): string | undefined =>
	events.find(({data}) => data.includes(`"data":${n}`))?.id;

test('each replica delivers unsolicited messages of a child exactly once [D8]', async t => {
	const {one, two} = await setting(t);
	const client = await roam(one, 'puppet');
	const send = async (...numbers: readonly number[]): Promise<void> => {
		const lines = numbers.map(n => `${JSON.stringify(remark(n))}\n`).join('');
		await client.post(two, {method: 'raw', params: {base64: Buffer.from(lines).toString('base64')}});
	};
	const first = await eventsOf(t, two, client);
	await send(1, 2, 3);
	await receives(first, 3);
	first.close();
	await send(4);
	const second = await eventsOf(t, one, client, idOf(first, 1));
	await receives(second, 4);
	t.deepEqual(numbersOf(second), [2, 3, 4]);
	// The first replica may not have noticed the disconnect yet.
	const third = await eventsOf(t, two, client, idOf(second, 3));
	await second.ended;
	await send(5);
	await receives(third, 5);
	t.deepEqual(numbersOf(third), [4, 5]);
});

test('another replica resumes the unsolicited messages of an HTTP upstream [D8]', async t => {
	const {upstream, one, two} = await setting(t);
	// Like many servers, this one allows only one GET stream.
	upstream.mood = ({verb, response}) => {
		const isRejected = verb === 'GET' && upstream.streams.some(({destroyed}) => !destroyed);
		if (isRejected) response.writeHead(409).end();
		return isRejected;
	};
	const streamOf = (count: number) => upstream.becomes(() => upstream.streams[count - 1]);
	const send = (n: number) => upstream.streams.at(-1)?.write(event(remark(n), `place-${n}`));
	const client = await roam(one, 'plain');
	const first = await eventsOf(t, one, client);
	const stream = await streamOf(1);
	for (const n of [1, 2, 3]) send(n);
	await receives(first, 3);
	const closed = once(stream, 'close');
	first.close();
	await closed;
	const second = await eventsOf(t, two, client, idOf(first, 1));
	await streamOf(2);
	send(4);
	await receives(second, 4);
	t.deepEqual(numbersOf(second), [2, 3, 4]);
	// The other replica may not have noticed the disconnect yet, and the client resumes before it has read
	// all events.
	const third = await eventsOf(t, one, client, idOf(second, 3));
	await second.ended;
	await streamOf(3);
	send(5);
	await receives(third, 5);
	t.deepEqual(numbersOf(third), [4, 5]);
	// The replica resumes the upstream's stream with the last event id.
	const lastIds = upstream.asked('GET').map(({headers}) => headers['last-event-id']);
	t.deepEqual([...new Set(lastIds)], [undefined, 'place-3', 'place-4']);
});
