import test from 'ava';
import {bridgeOrigin} from '../../../lib/core/envelope.js';
import {SharedPendingRequests} from '../../../lib/upstream/share/shared-pending-requests.js';

const request = (client: string | undefined, id: string) => ({id, client, origin: bridgeOrigin, method: 'x'});

test('no client can have so many requests in flight that there is no room for others', t => {
	const inFlight = new SharedPendingRequests<string>();
	for (let id = 0; id < 16_384; id++) inFlight.add(request('ann', String(id)));
	t.like(
		t.throws(() => inFlight.add(request('ann', 'more'))),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.notThrows(() => inFlight.add(request('bob', '0')));
});

test('all together cannot have more than so many, and what bridge has to ask is still asked', t => {
	const inFlight = new SharedPendingRequests<string>();
	for (let id = 0; id < 65_536; id++) inFlight.add(request(`client ${id % 8}`, String(id)));
	t.like(
		t.throws(() => inFlight.add(request('bob', '0'))),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.notThrows(() => inFlight.add(request(undefined, '""')));
});

test('two requests of one client under one id are two, each answered under it', t => {
	const inFlight = new SharedPendingRequests<string>();
	const [first, second] = [inFlight.add(request('ann', '1')), inFlight.add(request('ann', '1'))];
	t.is(inFlight.take(first.upstreamId), first);
	t.true(inFlight.has('ann'));
	t.is(inFlight.cancel('ann', '1'), second);
	t.false(inFlight.has('ann'));
});

test('the oldest of very many that were cancelled is forgotten', t => {
	const inFlight = new SharedPendingRequests<string>();
	const all = Array.from({length: 10_001}, (_, id) => inFlight.add(request('ann', String(id))));
	for (const {id} of all) inFlight.cancel('ann', id);
	t.is(inFlight.take(all[0]?.upstreamId ?? ''), undefined);
	t.is(inFlight.take(all[1]?.upstreamId ?? ''), all[1]);
});

test('what is answered by bridge is not given up with the client', t => {
	const inFlight = new SharedPendingRequests<string>();
	const own = inFlight.add({...request('ann', '1'), onResponse: () => {}});
	t.is(inFlight.cancel('ann', '1'), undefined);
	t.deepEqual(inFlight.removeClient('ann'), []);
	t.is(inFlight.take(own.upstreamId), own);
});

test('visits each pending request once to find the client of a server request [SEC-D11]', t => {
	const inFlight = new SharedPendingRequests<string>();
	for (const [at, client] of ['ann', 'bob', 'ann', 'eve'].entries())
		inFlight.add(request(client, String(at)));
	let looks = 0;
	const [none, some, all] = inFlight.latest(
		() => {
			looks++;
			return false;
		},
		(_asked, client) => client !== 'eve',
		asked => asked.mayNeedInput,
	);
	t.is(looks, 4);
	t.deepEqual(
		[none, some, all],
		[
			{client: undefined, count: 0},
			{client: 'ann', count: 2},
			{client: 'eve', count: 3},
		],
	);
});
