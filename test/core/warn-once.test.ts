import test from 'ava';
import {warnOnce} from '../../lib/core/warn-once.js';
import {memoryLog} from '../run/support.js';

test('logs a sentence once per log', t => {
	const [one, other] = [memoryLog(), memoryLog()];
	for (const log of [one, one, other]) warnOnce(log, 'a.b', 'It is odd.');
	warnOnce(one, 'a.b', 'It is odd in another way.');
	t.deepEqual(one.entries, ['warn a.b: It is odd.', 'warn a.b: It is odd in another way.']);
	t.deepEqual(other.entries, ['warn a.b: It is odd.']);
});

test('remembers a thousand sentences and logs further ones each time', t => {
	const log = memoryLog();
	for (let at = 0; at < 1001; at++) warnOnce(log, 'a.b', `Number ${at}.`);
	warnOnce(log, 'a.b', 'Number 999.');
	t.is(log.entries.length, 1001);
	warnOnce(log, 'a.b', 'Number 1000.');
	t.is(log.entries.length, 1002);
});
