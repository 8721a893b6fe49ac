import test from 'ava';
import {bufferLimit, DEFAULT_BUFFER_BYTES} from '../../lib/core/buffer-limit.js';
import {splitBatches} from '../../lib/operators/split-batches.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import {converse, readableLog} from '../helpers/pipeline.js';

test('replaces buffered responses of a batch with errors when the buffers of all sessions are full [SEC-D5]', t => {
	const negotiation = new Negotiation({upstream: 'files'});
	negotiation.setClient('2025-03-26');
	const {client, upstream} = converse(splitBatches({negotiation, log: readableLog().log}));
	client.sendText('[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"a"}]');
	upstream.send({id: 1, result: {text: 'x'.repeat(1000)}});
	bufferLimit.configure({limit: () => 0, onEvicted: () => {}});
	bufferLimit.check();
	bufferLimit.configure({limit: () => DEFAULT_BUFFER_BYTES, onEvicted: () => {}});
	upstream.send({id: 2, result: {}});
	const [batch = '[]'] = client.receivedTexts;
	t.like(JSON.parse(batch), [
		{id: 1, error: {code: -31_003}},
		{id: 2, result: {}},
	]);
});
