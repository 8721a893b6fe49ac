import test from 'ava';
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
