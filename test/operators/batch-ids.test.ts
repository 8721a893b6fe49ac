import test from 'ava';
import {matchResponses} from '../../lib/operators/match-responses.js';
import {splitBatches} from '../../lib/operators/split-batches.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import {converse, readableLog} from '../helpers/pipeline.js';

test('accepts a request with an id that is numerically equal to one in a pending batch [SEC-D9]', t => {
	const negotiation = new Negotiation({upstream: 'files'});
	negotiation.setClient('2025-03-26');
	const {log} = readableLog();
	const {client, upstream} = converse(
		splitBatches({negotiation, log}),
		matchResponses({log, upstream: 'files'}),
	);
	client.sendText('[{"jsonrpc":"2.0","id":77,"method":"a"}]');
	client.sendText('{"jsonrpc":"2.0","id":77.0,"method":"b"}');
	const [, second] = upstream.received;
	upstream.send({id: second?.id, result: 'b'});
	upstream.send({id: 77, result: 'a'});
	t.deepEqual(client.receivedTexts, [
		'{"jsonrpc":"2.0","id":77.0,"result":"b"}',
		'[{"jsonrpc":"2.0","id":77,"result":"a"}]',
	]);
});
