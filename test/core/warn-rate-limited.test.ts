import test from 'ava';
import {warnRateLimited} from '../../lib/core/warn-rate-limited.js';
import {readableLog} from '../helpers/pipeline.js';

test('logs the first warnings of a kind at once, and leaves out the rest of a flood [SEC-D11]', async t => {
	const {log, entries} = readableLog();
	for (let at = 0; at < 1000; at++) warnRateLimited(log, 'a', 'A sentence.', {at});
	warnRateLimited(log, 'b', 'Another sentence.');
	warnRateLimited(log, 'a', 'A sentence.', {at: 0}, 'files');
	const all = await entries();
	t.is(all.length, 102);
	t.deepEqual(
		all.slice(0, 100).map(({at}) => at),
		Array.from({length: 100}, (_, at) => at),
	);
	t.like(all[100], {event: 'b'});
	t.like(all[101], {event: 'a', at: 0});
});

test.serial('counts the warnings that were left out, in the next one [SEC-D11]', async t => {
	const {log, entries} = readableLog();
	const real = performance.now;
	let now = real.call(performance);
	performance.now = () => now;
	try {
		for (let at = 0; at < 105; at++) warnRateLimited(log, 'a', 'A sentence.');
		now += 20_000;
		for (let at = 0; at < 2; at++) warnRateLimited(log, 'a', 'A sentence.');
	} finally {
		performance.now = real;
	}
	const all = await entries();
	t.is(all.length, 102);
	t.is(all[100]?.leftOut, 5);
	t.false('leftOut' in (all[101] ?? {}));
});
