import test from 'ava';
import fc from 'fast-check';
import {Valve} from '../../lib/core/valve.js';

test('is open until somebody shuts it', t => {
	const valve = new Valve();
	t.true(valve.isOpen);
	valve.shut();
	t.false(valve.isOpen);
});

test('opens when everybody who shut it has let go', t => {
	const valve = new Valve();
	const [first, second] = [valve.shut(), valve.shut()];
	first();
	t.false(valve.isOpen);
	second();
	t.true(valve.isOpen);
});

test('takes letting go twice for once, so nobody lets go for somebody else', t => {
	const valve = new Valve();
	const [first, second] = [valve.shut(), valve.shut()];
	first();
	first();
	t.false(valve.isOpen);
	second();
	t.true(valve.isOpen);
});

test('runs what waits for it at once when it is open', t => {
	let runs = 0;
	new Valve().whenOpen(() => runs++);
	t.is(runs, 1);
});

test('runs what waits for it once it opens, in order, and only once', t => {
	const valve = new Valve();
	const ran: string[] = [];
	const open = valve.shut();
	valve.whenOpen(() => ran.push('first'));
	valve.whenOpen(() => ran.push('second'));
	t.deepEqual(ran, []);
	open();
	valve.shut()();
	t.deepEqual(ran, ['first', 'second']);
});

test('does not run what waits for it while one of several holds it', t => {
	const valve = new Valve();
	let runs = 0;
	const [first, second] = [valve.shut(), valve.shut()];
	valve.whenOpen(() => runs++);
	second();
	t.is(runs, 0);
	first();
	t.is(runs, 1);
});

test('lets what it runs wait for it anew', t => {
	const valve = new Valve();
	let runs = 0;
	let open = valve.shut();
	const again = (): void => {
		runs++;
		if (runs === 3) return;
		open = valve.shut();
		valve.whenOpen(again);
	};
	valve.whenOpen(again);
	for (const expected of [1, 2, 3]) {
		open();
		t.is(runs, expected);
	}
	t.true(valve.isOpen);
});

test('is open exactly when as many let go as shut it, in whatever order they do', t => {
	fc.assert(
		fc.property(fc.array(fc.nat({max: 9}), {maxLength: 50}), moves => {
			const valve = new Valve();
			const held: Array<() => void> = [];
			for (const move of moves) {
				if (move % 2 === 0) held.push(valve.shut());
				else held.splice(move % (held.length || 1), 1)[0]?.();
				t.is(valve.isOpen, held.length === 0);
			}
		}),
	);
});
