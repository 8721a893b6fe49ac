import test from 'ava';
import {KEPT_BYTES, keptBytes} from '../../lib/kept-bytes.js';
import {splitBatches} from '../../lib/operators/split-batches.js';
import {Session} from '../../lib/protocol/session.js';
import {converse, readableLog} from './support.js';

test('replaces buffered responses of a batch by errors when the buffers of all sessions are full [SEC-D5]', t => {
	const session = new Session({upstream: 'files'});
	session.clientBecame('2025-03-26');
	const {client, upstream} = converse(splitBatches({session, log: readableLog().log}));
	client.sayText('[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"a"}]');
	upstream.say({id: 1, result: {text: 'x'.repeat(1000)}});
	keptBytes.configure({limit: () => 0, onEvicted: () => {}});
	keptBytes.check();
	keptBytes.configure({limit: () => KEPT_BYTES, onEvicted: () => {}});
	upstream.say({id: 2, result: {}});
	const [batch = '[]'] = client.heardTexts;
	t.like(JSON.parse(batch), [
		{id: 1, error: {code: -31_003}},
		{id: 2, result: {}},
	]);
});
