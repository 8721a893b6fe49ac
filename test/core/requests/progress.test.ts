import test from 'ava';
import {PendingRequests} from '../../../lib/core/requests/pending.js';
import {matchResponses} from '../../../lib/operators/match-responses.js';
import {timeLimit} from '../../../lib/operators/time-limit.js';
import {converse, readableLog, until} from '../../helpers/pipeline.js';
import {shakeHands, versioned} from '../../helpers/version-stages.js';

const start = (timeoutMs = 0) => {
	const {log, entries} = readableLog();
	const pending = new PendingRequests();
	const stages = [
		matchResponses({log, upstream: 'files', pending}),
		timeLimit({timeoutMs, upstream: 'files', pending}),
	];
	return {...converse(...stages), entries};
};

type Ends = ReturnType<typeof converse>;

/** Sends a call with a progress token, as JSON text. */
const call = ({client}: Ends, id: number, token: string, more = ''): void =>
	client.sendText(
		`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x"${more},"_meta":{"progressToken":${token}}}}`,
	);

const progress = (token: string): string =>
	`{"jsonrpc":"2.0", "method":"notifications/progress","params":{"progress":1.0,"progressToken":${token}}}`;

/** Sends progress with these tokens. Returns the messages that the client receives. */
function receivedProgress({client, upstream}: Ends, ...tokens: readonly string[]): string[] {
	const before = client.receivedTexts.length;
	for (const token of tokens) upstream.sendText(progress(token));
	return client.receivedTexts.slice(before);
}

for (const token of ['0', '"a"', '1.0', '"ü"', '9007199254740993'])
	test(`forwards progress for ${token} byte for byte, but only while the request is pending [P4]`, t => {
		const pair = start();
		t.deepEqual(receivedProgress(pair, token), []);
		call(pair, 1, token);
		t.deepEqual(receivedProgress(pair, token), [progress(token)]);
		pair.upstream.send({id: 1, result: {}});
		t.deepEqual(receivedProgress(pair, token), []);
	});

test('logs dropped progress at level debug [P4]', async t => {
	const pair = start();
	receivedProgress(pair, '"unknown"');
	t.like(await pair.entries(), [{level: 20, event: 'rpc.orphan_progress', server: 'files'}]);
});

test('ignores tokens of other requests and tokens in arguments [P4]', t => {
	const pair = start();
	call(pair, 1, '1', ',"arguments":{"progressToken":2,"_meta":{"progressToken":3}}');
	t.deepEqual(receivedProgress(pair, '1', '2', '3', '4'), [progress('1')]);
});

test("restores the spelling of the client's token if the upstream changes it [P4]", t => {
	const pair = start();
	call(pair, 1, '1.0');
	call(pair, 2, '"\\u0061"');
	t.deepEqual(receivedProgress(pair, '1', '"1"', '"a"'), ['1.0', '1.0', '"\\u0061"'].map(progress));
});

test('recognizes a token whose key has escapes [P4]', t => {
	const pair = start();
	const meta = '{"progress\\u0054oken":5}';
	pair.client.sendText(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${meta}}}`);
	t.deepEqual(receivedProgress(pair, '5'), [progress('5')]);
});

test('drops progress of a cancelled request [P4]', t => {
	const pair = start();
	call(pair, 1, '1');
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.deepEqual(receivedProgress(pair, '1'), []);
});

test('drops progress of a request that has timed out [P4]', async t => {
	const pair = start(1);
	call(pair, 1, '1');
	await until(() => pair.client.received.length > 0);
	t.deepEqual(receivedProgress(pair, '1'), []);
});

test('forwards progress of a token used by two requests until both have a response [P4]', t => {
	const pair = start();
	call(pair, 1, '"same"');
	call(pair, 2, '"same"');
	pair.upstream.send({id: 2, result: {}});
	t.is(receivedProgress(pair, '"same"').length, 1);
	pair.upstream.send({id: 1, result: {}});
	t.is(receivedProgress(pair, '"same"').length, 0);
});

test('forwards progress of a task after the response to its request [P4]', t => {
	const pair = start();
	call(pair, 1, '"t"', ',"task":{"ttl":1000}');
	pair.upstream.send({id: 1, result: {task: {taskId: 'a', status: 'working'}}});
	t.deepEqual(receivedProgress(pair, '"t"'), [progress('"t"')]);
});

test('forwards progress of a server request with any token [P4]', t => {
	const {client, upstream} = start();
	upstream.send({id: 1, method: 'sampling/createMessage', params: {_meta: {progressToken: 'q'}}});
	for (const token of ['"q"', '"other"']) client.sendText(progress(token));
	t.deepEqual(upstream.receivedTexts, [progress('"q"'), progress('"other"')]);
});

for (const server of ['2025-11-25', '2024-11-05', '2026-07-28'])
	test(`forwards to a 2025-11-25 client of a ${server} upstream only progress of pending requests [P4]`, t => {
		const pair = versioned();
		shakeHands(pair, {client: '2025-11-25', server});
		call(pair, 1, '7');
		t.deepEqual(receivedProgress(pair, '7', '8'), [progress('7')]);
	});

test('limits the total length of task tokens [SEC-D5]', t => {
	const pair = start();
	const token = (at: number): string => `"${`${at}`.padEnd(4000, 'x')}"`;
	for (let at = 0; at < 200; at++) {
		call(pair, at, token(at), ',"task":{}');
		pair.upstream.send({id: at, result: {}});
	}
	t.is(receivedProgress(pair, token(199)).length, 1);
	t.is(receivedProgress(pair, token(0)).length, 0);
});
