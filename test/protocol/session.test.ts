import test from 'ava';
import {Session} from '../../lib/protocol/session.js';

test('whoever waits for the handshake is told once, when it is complete', t => {
	const session = new Session({upstream: 'files'});
	const seen: string[] = [];
	session.whenReady(() => seen.push(`first ${session.isReady}`));
	session.whenReady(() => seen.push('second'));
	t.deepEqual(seen, []);
	session.ready(false);
	session.ready(true);
	t.deepEqual(seen, ['first true', 'second']);
});

test('whoever comes later need not wait', t => {
	const session = new Session({upstream: 'files'});
	session.ready(true);
	let isTold = false;
	session.whenReady(() => {
		isTold = true;
	});
	t.true(isTold);
});
