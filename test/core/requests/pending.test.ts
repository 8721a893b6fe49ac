import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {PendingRequests} from '../../../lib/core/requests/pending.js';

const request = (id: string): Envelope => Envelope.of({jsonrpc: '2.0', id, method: 'tools/call'});

/** A request that its client cancels, and the upstream does not answer. */
function cancelled(waiting: PendingRequests, id: string): string {
	const {upstreamId: told} = waiting.add(request(id));
	waiting.cancel(JSON.stringify(id));
	return told;
}

test('of cancelled requests without a response the oldest are evicted [SEC-D5]', t => {
	const waiting = new PendingRequests();
	waiting.add(request('pending'));
	for (let at = 0; at < 1034; at++) cancelled(waiting, `c${at}`);
	t.is(waiting.size, 1 + 1024);
	t.is(waiting.settle('"c9"'), undefined);
	t.like(waiting.settle('"c10"'), {isCancelled: true});
	t.is(waiting.methodOf('"pending"'), 'tools/call');
	cancelled(waiting, 'one more');
	t.is(waiting.size, 1 + 1024);
});

test('a cancelled request that gets a response makes room for another', t => {
	const waiting = new PendingRequests();
	for (let at = 0; at < 3000; at++) {
		cancelled(waiting, `c${at}`);
		t.like(waiting.settle(`"c${at}"`), {isCancelled: true});
	}
	t.is(waiting.size, 0);
});

test('long ids that were given up are kept up to a number of characters [SEC-D5]', t => {
	const waiting = new PendingRequests();
	const long = (at: number): string => `${at}`.padEnd(4000, 'x');
	for (let at = 0; at < 2000; at++) cancelled(waiting, long(at));
	// An id that may still get a response is sent as another; one that was evicted is sent unchanged.
	t.not(cancelled(waiting, long(900)), JSON.stringify(long(900)));
	t.is(cancelled(waiting, long(0)), JSON.stringify(long(0)));
});
