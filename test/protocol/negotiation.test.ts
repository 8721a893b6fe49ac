import test from 'ava';
import {Negotiation} from '../../lib/protocol/negotiation.js';

test('whoever waits for the handshake is told once, when it is complete', t => {
	const session = new Negotiation({upstream: 'files'});
	const seen: string[] = [];
	session.whenReady(() => seen.push(`first ${session.isReady}`));
	session.whenReady(() => seen.push('second'));
	t.deepEqual(seen, []);
	session.completeHandshake(false);
	session.completeHandshake(true);
	t.deepEqual(seen, ['first true', 'second']);
});

test('whoever comes later need not wait', t => {
	const session = new Negotiation({upstream: 'files'});
	session.completeHandshake(true);
	let isTold = false;
	session.whenReady(() => {
		isTold = true;
	});
	t.true(isTold);
});
