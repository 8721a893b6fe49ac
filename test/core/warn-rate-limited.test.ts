import test from 'ava';
import {warnRateLimited} from '../../lib/core/warn-rate-limited.js';
import {readableLog} from '../helpers/pipeline.js';

test('logs the first warnings of an event and suppresses the rest [SEC-D11]', async t => {
	const {log, entries} = readableLog();
	for (let at = 0; at < 1000; at++) warnRateLimited(log, 'a', 'A sentence.', {at});
	warnRateLimited(log, 'b', 'Another sentence.');
	warnRateLimited(log, 'a', 'A sentence.', {at: 0}, 'files');
	const logged = await entries();
	t.is(logged.length, 102);
	t.deepEqual(
		logged.slice(0, 100).map(({at}) => at),
		Array.from({length: 100}, (_, at) => at),
	);
	t.like(logged[100], {event: 'b'});
	t.like(logged[101], {event: 'a', at: 0});
});

test.serial('reports the number of suppressed warnings in the next entry [SEC-D11]', async t => {
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
	const logged = await entries();
	t.is(logged.length, 102);
	t.is(logged[100]?.leftOut, 5);
	t.false('leftOut' in (logged[101] ?? {}));
});
