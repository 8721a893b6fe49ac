import test from 'ava';
import {bridgeOrigin, Envelope} from '../../lib/core/envelope.js';
import {classify} from '../../lib/core/fast-path.js';
import {PendingRequests} from '../../lib/core/requests/pending.js';
import {Negotiation, type TransformMarks} from '../../lib/protocol/negotiation.js';
import type {Version} from '../../lib/protocol/version.js';
import {EVERY_MESSAGE, marks} from '../../lib/wire/marks.js';

const message = (text: string): Envelope => Envelope.received(Buffer.from(`${text}\n`), bridgeOrigin);
const call = (id: number, more = ''): Envelope =>
	message(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"a"${more}}}`);
const result = (id: number, more = ''): Envelope =>
	message(`{"jsonrpc":"2.0","id":${id},"result":{"content":[]${more}}}`);
const failure = (id: number): Envelope =>
	message(`{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no"}}`);

/** A conversation between these two after its handshake. */
const settled = (client: Version, upstream: Version, touching?: TransformMarks) => {
	const session = new Negotiation({upstream: 'server'});
	session.setClient(client);
	session.setUpstreamVersion(upstream);
	session.completeHandshake(true);
	if (touching) session.setTransformMarks(touching);
	const waiting = new PendingRequests();
	const isEveryday = (envelope: Envelope): boolean => {
		classify(envelope, session, waiting);
		return envelope.isFastPath;
	};
	/** Whether a call is one, and then its answer. */
	const judge = (asked: Envelope, answer: Envelope): [call: boolean, answer: boolean] => {
		const isCall = isEveryday(asked);
		waiting.add(asked);
		return [isCall, isEveryday(answer)];
	};
	return {session, waiting, isEveryday, judge};
};

test('calls of tools and their answers are, between two of one version', t => {
	const {judge} = settled('2025-06-18', '2025-06-18');
	t.deepEqual(judge(call(1), result(1)), [true, true]);
	t.deepEqual(judge(call(2), failure(2)), [true, true]);
});

test('an answer stays one when nobody waits for it any more', t => {
	const {waiting, isEveryday, judge} = settled('2025-06-18', '2025-06-18');
	const answer = result(1);
	judge(call(1), answer);
	waiting.settle('1');
	t.true(isEveryday(answer));
	t.false(isEveryday(result(1)));
});

test('nothing is before the handshake, nor what a client says that may send batches', t => {
	const session = new Negotiation({upstream: 'server'});
	const first = call(1);
	classify(first, session, new PendingRequests());
	t.false(first.isFastPath);
	t.deepEqual(settled('2025-03-26', '2025-03-26').judge(call(1), result(1)), [false, false]);
});

test('other requests, notifications, and what is no message are not', t => {
	const {judge, isEveryday} = settled('2025-06-18', '2025-06-18');
	t.deepEqual(judge(message('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), result(1)), [false, false]);
	t.false(isEveryday(message('{"jsonrpc":"2.0","method":"notifications/progress"}')));
	t.false(isEveryday(message('{"jsonrpc":"2.0","id":1,"method":"tools/call","id":2}')));
	t.false(isEveryday(result(7)));
});

test('between two versions, those are that the translator would not change, once there is one', t => {
	const {calls, results, errors} = {calls: marks.task, results: marks.structuredContent, errors: 0};
	t.deepEqual(settled('2025-06-18', '2025-11-25').judge(call(1), result(1)), [false, false]);
	const {judge} = settled('2025-06-18', '2025-11-25', {calls, results, errors});
	t.deepEqual(judge(call(1), result(1)), [true, true]);
	t.deepEqual(judge(call(2, ',"task":{}'), result(2)), [false, false]);
	t.deepEqual(judge(call(3), result(3, ',"structuredContent":{}')), [true, false]);
	const {judge: always} = settled('2025-06-18', '2025-11-25', {calls, results, errors: EVERY_MESSAGE});
	t.deepEqual(always(call(1), failure(1)), [true, false]);
});

test('when somebody turns out to speak something else, everybody looks again', t => {
	const {session, judge} = settled('2025-06-18', '2025-06-18');
	session.setUpstreamVersion('2025-11-25');
	t.deepEqual(judge(call(1), result(1)), [false, false]);
	session.setTransformMarks({calls: 0, results: 0, errors: 0});
	t.deepEqual(judge(call(2), result(2)), [true, true]);
});
