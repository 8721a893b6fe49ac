import test from 'ava';
import {matchAnswers} from '../../lib/operators/match-answers.js';
import {splitBatches} from '../../lib/operators/split-batches.js';
import {Session} from '../../lib/protocol/session.js';
import {converse, readableLog} from './support.js';

test('a request during a batch may have an id that is numerically equal to one in the batch [SEC-D9]', t => {
	const session = new Session({upstream: 'files'});
	session.clientBecame('2025-03-26');
	const {log} = readableLog();
	const {client, upstream} = converse(splitBatches({session, log}), matchAnswers({log, upstream: 'files'}));
	client.sayText('[{"jsonrpc":"2.0","id":77,"method":"a"}]');
	client.sayText('{"jsonrpc":"2.0","id":77.0,"method":"b"}');
	const [, second] = upstream.heard;
	upstream.say({id: second?.id, result: 'b'});
	upstream.say({id: 77, result: 'a'});
	t.deepEqual(client.heardTexts, [
		'{"jsonrpc":"2.0","id":77.0,"result":"b"}',
		'[{"jsonrpc":"2.0","id":77,"result":"a"}]',
	]);
});
