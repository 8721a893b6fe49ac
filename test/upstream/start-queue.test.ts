import test from 'ava';
import {StartQueue} from '../../lib/upstream/start-queue.js';
import {until} from '../helpers/pipeline.js';

/**
 * The cost of one start in milliseconds, and the number of such starts that a principal may cause at once.
 */
const COST_MS = 10;
const BURST = 25;

const limited = (): boolean => true;

test('runs a burst of starts at once and queues the rest in order [SEC-D16]', async t => {
	let now = 0;
	const started: number[] = [];
	const starts = new StartQueue(limited, () => now);
	for (let number = 0; number < BURST + 2; number++)
		starts.add(() => {
			now += COST_MS;
			started.push(number);
		});
	t.is(started.length, BURST);
	now += COST_MS * 10;
	await until(() => started.length > BURST);
	t.is(started.length, BURST + 1);
	now += COST_MS * 10;
	await until(() => started.length > BURST + 1);
	t.deepEqual(
		started,
		started.map((_, at) => at),
	);
});

test('does not limit the starts of a single principal [SEC-D16]', t => {
	let now = 0;
	let count = 0;
	const starts = new StartQueue(
		() => false,
		() => now,
	);
	for (let at = 0; at < 1000; at++)
		starts.add(() => {
			now += COST_MS;
			count++;
		});
	t.is(count, 1000);
});

test('does not run a start that was removed from the queue [SEC-D16]', async t => {
	let now = 0;
	const started: string[] = [];
	const starts = new StartQueue(limited, () => now);
	for (let at = 0; at < BURST; at++)
		starts.add(() => {
			now += COST_MS;
		});
	const remove = starts.add(() => void started.push('removed'));
	starts.add(() => void started.push('last'));
	remove();
	now += 10_000;
	await until(() => started.length > 0);
	t.deepEqual(started, ['last']);
});
