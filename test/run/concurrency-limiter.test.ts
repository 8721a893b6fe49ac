import test from 'ava';
import fc from 'fast-check';
import {ConcurrencyLimiter} from '../../lib/run/concurrency-limiter.js';

const never = new AbortController().signal;

test('grants the slots, and a released slot to the next program', async t => {
	const limiter = new ConcurrencyLimiter(1, 5);
	const release = await limiter.acquire(never);
	let isAcquired = false;
	const second = limiter.acquire(never).then(releaseNext => {
		isAcquired = true;
		return releaseNext;
	});
	await Promise.resolve();
	t.false(isAcquired);
	release?.();
	release?.();
	t.is(limiter.active, 1);
	(await second)?.();
	t.is(limiter.active, 0);
});

test('grants slots in the order of the requests', async t => {
	const limiter = new ConcurrencyLimiter(1, 5);
	const order: number[] = [];
	const release = await limiter.acquire(never);
	const all = [1, 2, 3].map(async number => {
		const releaseNext = await limiter.acquire(never);
		order.push(number);
		releaseNext?.();
	});
	release?.();
	await Promise.all(all);
	t.deepEqual(order, [1, 2, 3]);
});

test('rejects a program when the queue is full', async t => {
	const limiter = new ConcurrencyLimiter(1, 1);
	await limiter.acquire(never);
	limiter.acquire(never).catch(() => {});
	t.is(await limiter.acquire(never), undefined);
	t.is(limiter.queued, 1);
});

test('removes an aborted program from the queue', async t => {
	const limiter = new ConcurrencyLimiter(1, 1);
	const release = await limiter.acquire(never);
	const stop = new AbortController();
	const waiting = limiter.acquire(stop.signal);
	stop.abort(new Error('enough'));
	await t.throwsAsync(waiting, {message: 'enough'});
	t.is(limiter.queued, 0);
	release?.();
	t.is(limiter.active, 0);
});

test('rejects a program whose signal is already aborted', async t => {
	await t.throwsAsync(new ConcurrencyLimiter(1, 1).acquire(AbortSignal.abort(new Error('aborted'))), {
		message: 'aborted',
	});
});

test('gives a client its share of the slots, and other clients the rest [SEC-D18]', async t => {
	const limiter = new ConcurrencyLimiter(4, 4);
	const ownReleases = [await limiter.acquire(never, 'a', 0.5), await limiter.acquire(never, 'a', 0.5)];
	const waiting = [limiter.acquire(never, 'a', 0.5), limiter.acquire(never, 'a', 0.5)];
	t.is(await limiter.acquire(never, 'a', 0.5), undefined, 'the queue share of the client is used up');
	const otherReleases = [await limiter.acquire(never, 'b', 0.5), await limiter.acquire(never, 'b', 0.5)];
	t.true(otherReleases.every(release => release !== undefined));
	for (const release of otherReleases) release?.();
	t.is(limiter.queued, 2, 'slots of other clients stay free');
	ownReleases[0]?.();
	t.is(limiter.queued, 1);
	ownReleases[1]?.();
	for (const release of await Promise.all(waiting)) release?.();
	t.is(limiter.active, 0);
});

test('gives one client as many slots as its quota, whatever the number of slots [SEC-D18]', async t => {
	for (let slots = 1; slots <= 64; slots++)
		for (let quota = 1; quota <= slots; quota++) {
			const limiter = new ConcurrencyLimiter(slots, 0);
			for (let count = 0; count <= quota; count++) void limiter.acquire(never, 'a', quota / slots);
			if (limiter.active !== quota) t.fail(`${limiter.active} of ${quota}, with ${slots} slots`);
		}
	t.pass();
});

test('never exceeds a share or leaves a slot free that a queued program may use [SEC-D18]', async t => {
	const step = fc.record({client: fc.constantFrom('a', 'b', 'c'), isRelease: fc.boolean()});
	await fc.assert(
		fc.asyncProperty(fc.array(step, {maxLength: 60}), async steps => {
			const limiter = new ConcurrencyLimiter(4, 6);
			const active: Array<{client: string; release: () => void}> = [];
			const queued: string[] = [];
			const acquire = async (client: string): Promise<void> => {
				queued.push(client);
				const release = await limiter.acquire(never, client, 0.5);
				queued.splice(queued.indexOf(client), 1);
				if (release) active.push({client, release});
			};
			for (const {client, isRelease} of steps) {
				if (isRelease) active.splice(0, 1)[0]?.release();
				else void acquire(client);
				await new Promise(setImmediate);
				const of = (name: string): number => active.filter(one => one.client === name).length;
				t.is(limiter.active, active.length);
				t.true(active.length <= 4 && ['a', 'b', 'c'].every(name => of(name) <= 2));
				t.false(active.length < 4 && queued.some(name => of(name) < 2));
			}
		}),
		{numRuns: 50},
	);
});
