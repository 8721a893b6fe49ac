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

/** Starts a conversation between these versions with a complete handshake. */
const connected = (client: Version, upstream: Version, transformMarks?: TransformMarks) => {
	const negotiation = new Negotiation({upstream: 'server'});
	negotiation.setClient(client);
	negotiation.setUpstreamVersion(upstream);
	negotiation.completeHandshake(true);
	if (transformMarks) negotiation.setTransformMarks(transformMarks);
	const pending = new PendingRequests();
	const isFastPath = (envelope: Envelope): boolean => {
		classify(envelope, negotiation, pending);
		return envelope.isFastPath;
	};
	/** Whether a call and its response use the fast path. */
	const classifyBoth = (request: Envelope, response: Envelope): [request: boolean, response: boolean] => {
		const isCall = isFastPath(request);
		pending.add(request);
		return [isCall, isFastPath(response)];
	};
	return {negotiation, pending, isFastPath, classifyBoth};
};

test('marks tool calls and their responses if both sides use the same version', t => {
	const {classifyBoth} = connected('2025-06-18', '2025-06-18');
	t.deepEqual(classifyBoth(call(1), result(1)), [true, true]);
	t.deepEqual(classifyBoth(call(2), failure(2)), [true, true]);
});

test('keeps the mark of a response when its request is no longer pending', t => {
	const {pending, isFastPath, classifyBoth} = connected('2025-06-18', '2025-06-18');
	const response = result(1);
	classifyBoth(call(1), response);
	pending.settle('1');
	t.true(isFastPath(response));
	t.false(isFastPath(result(1)));
});

test('marks nothing before the handshake or for versions with batches', t => {
	const negotiation = new Negotiation({upstream: 'server'});
	const first = call(1);
	classify(first, negotiation, new PendingRequests());
	t.false(first.isFastPath);
	t.deepEqual(connected('2025-03-26', '2025-03-26').classifyBoth(call(1), result(1)), [false, false]);
});

test('marks no other requests, notifications or invalid messages', t => {
	const {classifyBoth, isFastPath} = connected('2025-06-18', '2025-06-18');
	t.deepEqual(classifyBoth(message('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), result(1)), [
		false,
		false,
	]);
	t.false(isFastPath(message('{"jsonrpc":"2.0","method":"notifications/progress"}')));
	t.false(isFastPath(message('{"jsonrpc":"2.0","id":1,"method":"tools/call","id":2}')));
	t.false(isFastPath(result(7)));
});

test('marks messages between different versions unless the translator would change them', t => {
	const {calls, results, errors} = {calls: marks.task, results: marks.structuredContent, errors: 0};
	t.deepEqual(connected('2025-06-18', '2025-11-25').classifyBoth(call(1), result(1)), [false, false]);
	const {classifyBoth} = connected('2025-06-18', '2025-11-25', {calls, results, errors});
	t.deepEqual(classifyBoth(call(1), result(1)), [true, true]);
	t.deepEqual(classifyBoth(call(2, ',"task":{}'), result(2)), [false, false]);
	t.deepEqual(classifyBoth(call(3), result(3, ',"structuredContent":{}')), [true, false]);
	const {classifyBoth: classifyAll} = connected('2025-06-18', '2025-11-25', {
		calls,
		results,
		errors: EVERY_MESSAGE,
	});
	t.deepEqual(classifyAll(call(1), failure(1)), [true, false]);
});

test('stops marking messages when the version changes', t => {
	const {negotiation, classifyBoth} = connected('2025-06-18', '2025-06-18');
	negotiation.setUpstreamVersion('2025-11-25');
	t.deepEqual(classifyBoth(call(1), result(1)), [false, false]);
	negotiation.setTransformMarks({calls: 0, results: 0, errors: 0});
	t.deepEqual(classifyBoth(call(2), result(2)), [true, true]);
});
