import test from 'ava';
import {ShutValves} from '../../lib/core/shut-valves.js';
import {Valve} from '../../lib/core/valve.js';

test('shuts each valve once and releases them all', t => {
	const [shut, one, other] = [new ShutValves(), new Valve(), new Valve()];
	t.true(shut.isEmpty);
	shut.shut(one);
	shut.shut(one);
	shut.shut(other);
	t.false(one.isOpen || other.isOpen || shut.isEmpty);
	shut.release();
	t.true(one.isOpen && other.isOpen && shut.isEmpty);
});

test('keeps a valve shut that is shut again by a callback of its opening', t => {
	const [shut, valve] = [new ShutValves(), new Valve()];
	shut.shut(valve);
	valve.whenOpen(() => shut.shut(valve));
	shut.release();
	t.false(valve.isOpen);
	shut.release();
	t.true(valve.isOpen);
});
