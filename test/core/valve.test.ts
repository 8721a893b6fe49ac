import test from 'ava';
import fc from 'fast-check';
import {Valve} from '../../lib/core/valve.js';

test('is open until it is shut', t => {
	const valve = new Valve();
	t.true(valve.isOpen);
	valve.shut();
	t.false(valve.isOpen);
});

test('opens when all receivers have released it', t => {
	const valve = new Valve();
	const [first, second] = [valve.shut(), valve.shut()];
	first();
	t.false(valve.isOpen);
	second();
	t.true(valve.isOpen);
});

test('ignores a second release by the same receiver', t => {
	const valve = new Valve();
	const [first, second] = [valve.shut(), valve.shut()];
	first();
	first();
	t.false(valve.isOpen);
	second();
	t.true(valve.isOpen);
});

test('runs a callback immediately when it is open', t => {
	let runs = 0;
	new Valve().whenOpen(() => runs++);
	t.is(runs, 1);
});

test('runs callbacks when it opens, in order and only once', t => {
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

test('does not run a callback while one of several receivers has not released it', t => {
	const valve = new Valve();
	let runs = 0;
	const [first, second] = [valve.shut(), valve.shut()];
	valve.whenOpen(() => runs++);
	second();
	t.is(runs, 0);
	first();
	t.is(runs, 1);
});

test('allows a callback to wait for the next opening', t => {
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

test('is open exactly when it was released as often as it was shut, in any order', t => {
	fc.assert(
		fc.property(fc.array(fc.nat({max: 9}), {maxLength: 50}), moves => {
			const valve = new Valve();
			const releases: Array<() => void> = [];
			for (const move of moves) {
				if (move % 2 === 0) releases.push(valve.shut());
				else releases.splice(move % (releases.length || 1), 1)[0]?.();
				t.is(valve.isOpen, releases.length === 0);
			}
		}),
	);
});
