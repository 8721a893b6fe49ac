import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {PendingRequests} from '../../../lib/core/requests/pending.js';

const request = (id: string): Envelope => Envelope.of({jsonrpc: '2.0', id, method: 'tools/call'});

/** Adds and cancels a request. Returns its upstream id. */
function cancelled(pending: PendingRequests, id: string): string {
	const {upstreamId} = pending.add(request(id));
	pending.cancel(JSON.stringify(id));
	return upstreamId;
}

test('evicts the oldest cancelled requests without a response [SEC-D5]', t => {
	const pending = new PendingRequests();
	pending.add(request('pending'));
	for (let at = 0; at < 1034; at++) cancelled(pending, `c${at}`);
	t.is(pending.size, 1 + 1024);
	t.is(pending.settle('"c9"'), undefined);
	t.like(pending.settle('"c10"'), {isCancelled: true});
	t.is(pending.methodOf('"pending"'), 'tools/call');
	cancelled(pending, 'one more');
	t.is(pending.size, 1 + 1024);
});

test('removes a cancelled request that gets a response', t => {
	const pending = new PendingRequests();
	for (let at = 0; at < 3000; at++) {
		cancelled(pending, `c${at}`);
		t.like(pending.settle(`"c${at}"`), {isCancelled: true});
	}
	t.is(pending.size, 0);
});

test('limits the total length of abandoned ids [SEC-D5]', t => {
	const pending = new PendingRequests();
	const long = (at: number): string => `${at}`.padEnd(4000, 'x');
	for (let at = 0; at < 2000; at++) cancelled(pending, long(at));
	// An id that may still get a response is replaced by an alias. An evicted id is sent unchanged.
	t.not(cancelled(pending, long(900)), JSON.stringify(long(900)));
	t.is(cancelled(pending, long(0)), JSON.stringify(long(0)));
});
