import test from 'ava';
import fc from 'fast-check';
import {ConcurrencyLimiter} from '../../lib/run/concurrency-limiter.js';

const never = new AbortController().signal;

test('lets so many in, and the next when one leaves', async t => {
	const gate = new ConcurrencyLimiter(1, 5);
	const leave = await gate.acquire(never);
	let isInside = false;
	const second = gate.acquire(never).then(out => {
		isInside = true;
		return out;
	});
	await Promise.resolve();
	t.false(isInside);
	leave?.();
	leave?.();
	t.is(gate.active, 1);
	(await second)?.();
	t.is(gate.active, 0);
});

test('keeps the order in which they came', async t => {
	const gate = new ConcurrencyLimiter(1, 5);
	const order: number[] = [];
	const leave = await gate.acquire(never);
	const all = [1, 2, 3].map(async number => {
		const out = await gate.acquire(never);
		order.push(number);
		out?.();
	});
	leave?.();
	await Promise.all(all);
	t.deepEqual(order, [1, 2, 3]);
});

test('turns away who comes when too many wait', async t => {
	const gate = new ConcurrencyLimiter(1, 1);
	await gate.acquire(never);
	gate.acquire(never).catch(() => {});
	t.is(await gate.acquire(never), undefined);
	t.is(gate.queued, 1);
});

test('forgets who gives up waiting', async t => {
	const gate = new ConcurrencyLimiter(1, 1);
	const leave = await gate.acquire(never);
	const stop = new AbortController();
	const waiting = gate.acquire(stop.signal);
	stop.abort(new Error('enough'));
	await t.throwsAsync(waiting, {message: 'enough'});
	t.is(gate.queued, 0);
	leave?.();
	t.is(gate.active, 0);
});

test('lets nobody in who has given up already', async t => {
	await t.throwsAsync(new ConcurrencyLimiter(1, 1).acquire(AbortSignal.abort(new Error('gone'))), {
		message: 'gone',
	});
});

test('gives a client its share of the slots, and others the rest [SEC-D18]', async t => {
	const gate = new ConcurrencyLimiter(4, 4);
	const own = [await gate.acquire(never, 'a', 0.5), await gate.acquire(never, 'a', 0.5)];
	const waiting = [gate.acquire(never, 'a', 0.5), gate.acquire(never, 'a', 0.5)];
	t.is(await gate.acquire(never, 'a', 0.5), undefined, 'no more of it may wait');
	const others = [await gate.acquire(never, 'b', 0.5), await gate.acquire(never, 'b', 0.5)];
	t.true(others.every(leave => leave !== undefined));
	for (const leave of others) leave?.();
	t.is(gate.queued, 2, 'places of others stay free');
	own[0]?.();
	t.is(gate.queued, 1);
	own[1]?.();
	for (const leave of await Promise.all(waiting)) leave?.();
	t.is(gate.active, 0);
});

test('gives one client as many slots as its quota, whatever the number of slots [SEC-D18]', async t => {
	for (let places = 1; places <= 64; places++)
		for (let quota = 1; quota <= places; quota++) {
			const gate = new ConcurrencyLimiter(places, 0);
			for (let count = 0; count <= quota; count++) void gate.acquire(never, 'a', quota / places);
			if (gate.active !== quota) t.fail(`${gate.active} of ${quota}, with ${places} places`);
		}
	t.pass();
});

test('no order of clients exceeds a share, or leaves a slot free while a program waits for it [SEC-D18]', async t => {
	const step = fc.record({client: fc.constantFrom('a', 'b', 'c'), isLeaving: fc.boolean()});
	await fc.assert(
		fc.asyncProperty(fc.array(step, {maxLength: 60}), async steps => {
			const gate = new ConcurrencyLimiter(4, 6);
			const inside: Array<{client: string; leave: () => void}> = [];
			const wanted: string[] = [];
			const enter = async (client: string): Promise<void> => {
				wanted.push(client);
				const leave = await gate.acquire(never, client, 0.5);
				wanted.splice(wanted.indexOf(client), 1);
				if (leave) inside.push({client, leave});
			};
			for (const {client, isLeaving} of steps) {
				if (isLeaving) inside.splice(0, 1)[0]?.leave();
				else void enter(client);
				await new Promise(setImmediate);
				const of = (name: string): number => inside.filter(one => one.client === name).length;
				t.is(gate.active, inside.length);
				t.true(inside.length <= 4 && ['a', 'b', 'c'].every(name => of(name) <= 2));
				t.false(inside.length < 4 && wanted.some(name => of(name) < 2));
			}
		}),
		{numRuns: 50},
	);
});
