import test from 'ava';
import {Negotiation} from '../../lib/protocol/negotiation.js';

test('calls each waiting callback once, when the handshake is complete', t => {
	const negotiation = new Negotiation({upstream: 'files'});
	const seen: string[] = [];
	negotiation.whenReady(() => seen.push(`first ${negotiation.isReady}`));
	negotiation.whenReady(() => seen.push('second'));
	t.deepEqual(seen, []);
	negotiation.completeHandshake(false);
	negotiation.completeHandshake(true);
	t.deepEqual(seen, ['first true', 'second']);
});

test('calls a callback immediately after the handshake', t => {
	const negotiation = new Negotiation({upstream: 'files'});
	negotiation.completeHandshake(true);
	let isCalled = false;
	negotiation.whenReady(() => {
		isCalled = true;
	});
	t.true(isCalled);
});
