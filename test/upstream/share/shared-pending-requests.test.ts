import test from 'ava';
import {bridgeOrigin} from '../../../lib/core/envelope.js';
import {SharedPendingRequests} from '../../../lib/upstream/share/shared-pending-requests.js';

const request = (client: string | undefined, id: string) => ({id, client, origin: bridgeOrigin, method: 'x'});

test('limits the pending requests of each client', t => {
	const pending = new SharedPendingRequests<string>();
	for (let id = 0; id < 16_384; id++) pending.add(request('ann', String(id)));
	t.like(
		t.throws(() => pending.add(request('ann', 'more'))),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.notThrows(() => pending.add(request('bob', '0')));
});

test('limits the pending requests of all clients, but not those of bridge', t => {
	const pending = new SharedPendingRequests<string>();
	for (let id = 0; id < 65_536; id++) pending.add(request(`client ${id % 8}`, String(id)));
	t.like(
		t.throws(() => pending.add(request('bob', '0'))),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.notThrows(() => pending.add(request(undefined, '""')));
});

test('keeps two requests of one client with the same id apart', t => {
	const pending = new SharedPendingRequests<string>();
	const [first, second] = [pending.add(request('ann', '1')), pending.add(request('ann', '1'))];
	t.is(pending.take(first.upstreamId), first);
	t.true(pending.has('ann'));
	t.is(pending.cancel('ann', '1'), second);
	t.false(pending.has('ann'));
});

test('evicts the oldest cancelled request over the limit', t => {
	const pending = new SharedPendingRequests<string>();
	const all = Array.from({length: 10_001}, (_, id) => pending.add(request('ann', String(id))));
	for (const {id} of all) pending.cancel('ann', id);
	t.is(pending.take(all[0]?.upstreamId ?? ''), undefined);
	t.is(pending.take(all[1]?.upstreamId ?? ''), all[1]);
});

test('does not cancel requests whose responses bridge handles', t => {
	const pending = new SharedPendingRequests<string>();
	const own = pending.add({...request('ann', '1'), onResponse: () => {}});
	t.is(pending.cancel('ann', '1'), undefined);
	t.deepEqual(pending.removeClient('ann'), []);
	t.is(pending.take(own.upstreamId), own);
});

test('visits each pending request once to find the client of a server request [SEC-D11]', t => {
	const pending = new SharedPendingRequests<string>();
	for (const [at, client] of ['ann', 'bob', 'ann', 'eve'].entries()) pending.add(request(client, String(at)));
	let visits = 0;
	const [none, some, all] = pending.latest(
		() => {
			visits++;
			return false;
		},
		(_request, client) => client !== 'eve',
		({mayNeedInput}) => mayNeedInput,
	);
	t.is(visits, 4);
	t.deepEqual(
		[none, some, all],
		[
			{client: undefined, count: 0},
			{client: 'ann', count: 2},
			{client: 'eve', count: 3},
		],
	);
});
