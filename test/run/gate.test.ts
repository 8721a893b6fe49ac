import test from 'ava';
import fc from 'fast-check';
import {Gate} from '../../lib/run/gate.js';

const never = new AbortController().signal;

test('lets so many in, and the next when one leaves', async t => {
	const gate = new Gate(1, 5);
	const leave = await gate.enter(never);
	let isInside = false;
	const second = gate.enter(never).then(out => {
		isInside = true;
		return out;
	});
	await Promise.resolve();
	t.false(isInside);
	leave?.();
	leave?.();
	t.is(gate.inside, 1);
	(await second)?.();
	t.is(gate.inside, 0);
});

test('keeps the order in which they came', async t => {
	const gate = new Gate(1, 5);
	const order: number[] = [];
	const leave = await gate.enter(never);
	const all = [1, 2, 3].map(async number => {
		const out = await gate.enter(never);
		order.push(number);
		out?.();
	});
	leave?.();
	await Promise.all(all);
	t.deepEqual(order, [1, 2, 3]);
});

test('turns away who comes when too many wait', async t => {
	const gate = new Gate(1, 1);
	await gate.enter(never);
	gate.enter(never).catch(() => {});
	t.is(await gate.enter(never), undefined);
	t.is(gate.waiting, 1);
});

test('forgets who gives up waiting', async t => {
	const gate = new Gate(1, 1);
	const leave = await gate.enter(never);
	const stop = new AbortController();
	const waiting = gate.enter(stop.signal);
	stop.abort(new Error('enough'));
	await t.throwsAsync(waiting, {message: 'enough'});
	t.is(gate.waiting, 0);
	leave?.();
	t.is(gate.inside, 0);
});

test('lets nobody in who has given up already', async t => {
	await t.throwsAsync(new Gate(1, 1).enter(AbortSignal.abort(new Error('gone'))), {message: 'gone'});
});

test('gives a client its share of the slots, and others the rest [SEC-D18]', async t => {
	const gate = new Gate(4, 4);
	const own = [await gate.enter(never, 'a', 0.5), await gate.enter(never, 'a', 0.5)];
	const waiting = [gate.enter(never, 'a', 0.5), gate.enter(never, 'a', 0.5)];
	t.is(await gate.enter(never, 'a', 0.5), undefined, 'no more of it may wait');
	const others = [await gate.enter(never, 'b', 0.5), await gate.enter(never, 'b', 0.5)];
	t.true(others.every(leave => leave !== undefined));
	for (const leave of others) leave?.();
	t.is(gate.waiting, 2, 'places of others stay free');
	own[0]?.();
	t.is(gate.waiting, 1);
	own[1]?.();
	for (const leave of await Promise.all(waiting)) leave?.();
	t.is(gate.inside, 0);
});

test('gives one client as many slots as its quota, whatever the number of slots [SEC-D18]', async t => {
	for (let places = 1; places <= 64; places++)
		for (let quota = 1; quota <= places; quota++) {
			const gate = new Gate(places, 0);
			for (let count = 0; count <= quota; count++) void gate.enter(never, 'a', quota / places);
			if (gate.inside !== quota) t.fail(`${gate.inside} of ${quota}, with ${places} places`);
		}
	t.pass();
});

test('no order of clients exceeds a share, or leaves a slot free while a program waits for it [SEC-D18]', async t => {
	const step = fc.record({client: fc.constantFrom('a', 'b', 'c'), isLeaving: fc.boolean()});
	await fc.assert(
		fc.asyncProperty(fc.array(step, {maxLength: 60}), async steps => {
			const gate = new Gate(4, 6);
			const inside: Array<{client: string; leave: () => void}> = [];
			const wanted: string[] = [];
			const enter = async (client: string): Promise<void> => {
				wanted.push(client);
				const leave = await gate.enter(never, client, 0.5);
				wanted.splice(wanted.indexOf(client), 1);
				if (leave) inside.push({client, leave});
			};
			for (const {client, isLeaving} of steps) {
				if (isLeaving) inside.splice(0, 1)[0]?.leave();
				else void enter(client);
				await new Promise(setImmediate);
				const of = (name: string): number => inside.filter(one => one.client === name).length;
				t.is(gate.inside, inside.length);
				t.true(inside.length <= 4 && ['a', 'b', 'c'].every(name => of(name) <= 2));
				t.false(inside.length < 4 && wanted.some(name => of(name) < 2));
			}
		}),
		{numRuns: 50},
	);
});
