import test from 'ava';
import {PendingRequests} from '../../../lib/core/requests/pending.js';
import {matchResponses} from '../../../lib/operators/match-responses.js';
import {timeLimit} from '../../../lib/operators/time-limit.js';
import {converse, readableLog, until} from '../../helpers/pipeline.js';
import {shakeHands, versioned} from '../../helpers/version-stages.js';

const start = (timeoutMs = 0) => {
	const {log, entries} = readableLog();
	const waiting = new PendingRequests();
	const stages = [
		matchResponses({log, upstream: 'files', pending: waiting}),
		timeLimit({timeoutMs, upstream: 'files', pending: waiting}),
	];
	return {...converse(...stages), entries};
};

type Ends = ReturnType<typeof converse>;

/** A call whose progress is told under a token, given as text. */
const call = ({client}: Ends, id: number, token: string, more = ''): void =>
	client.sendText(
		`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x"${more},"_meta":{"progressToken":${token}}}}`,
	);

const progress = (token: string): string =>
	`{"jsonrpc":"2.0", "method":"notifications/progress","params":{"progress":1.0,"progressToken":${token}}}`;

/** What the client hears of the progress that the server tells under these tokens. */
function heardOf({client, upstream}: Ends, ...tokens: readonly string[]): string[] {
	const before = client.receivedTexts.length;
	for (const token of tokens) upstream.sendText(progress(token));
	return client.receivedTexts.slice(before);
}

for (const token of ['0', '"a"', '1.0', '"ü"', '9007199254740993'])
	test(`progress under ${token} passes byte for byte while the request waits, and not later [P4]`, t => {
		const pair = start();
		t.deepEqual(heardOf(pair, token), []);
		call(pair, 1, token);
		t.deepEqual(heardOf(pair, token), [progress(token)]);
		pair.upstream.send({id: 1, result: {}});
		t.deepEqual(heardOf(pair, token), []);
	});

test('progress that is dropped is told in the debug log [P4]', async t => {
	const pair = start();
	heardOf(pair, '"nobody\'s"');
	t.like(await pair.entries(), [{level: 20, event: 'rpc.orphan_progress', server: 'files'}]);
});

test('a token of another request, or one in its arguments, is another [P4]', t => {
	const pair = start();
	call(pair, 1, '1', ',"arguments":{"progressToken":2,"_meta":{"progressToken":3}}');
	t.deepEqual(heardOf(pair, '1', '2', '3', '4'), [progress('1')]);
});

test('a client gets its progress token as it wrote it, also if the server writes it differently [P4]', t => {
	const pair = start();
	call(pair, 1, '1.0');
	call(pair, 2, '"\\u0061"');
	t.deepEqual(heardOf(pair, '1', '"1"', '"a"'), ['1.0', '1.0', '"\\u0061"'].map(progress));
});

test('a token with escapes in its key is found [P4]', t => {
	const pair = start();
	const meta = '{"progress\\u0054oken":5}';
	pair.client.sendText(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${meta}}}`);
	t.deepEqual(heardOf(pair, '5'), [progress('5')]);
});

test('progress of a request that was cancelled is dropped [P4]', t => {
	const pair = start();
	call(pair, 1, '1');
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.deepEqual(heardOf(pair, '1'), []);
});

test('progress of a request that has timed out is dropped [P4]', async t => {
	const pair = start(1);
	call(pair, 1, '1');
	await until(() => pair.client.received.length > 0);
	t.deepEqual(heardOf(pair, '1'), []);
});

test('a token that two requests have is good until both are answered [P4]', t => {
	const pair = start();
	call(pair, 1, '"same"');
	call(pair, 2, '"same"');
	pair.upstream.send({id: 2, result: {}});
	t.is(heardOf(pair, '"same"').length, 1);
	pair.upstream.send({id: 1, result: {}});
	t.is(heardOf(pair, '"same"').length, 0);
});

test('the progress of a task goes on after the request is answered [P4]', t => {
	const pair = start();
	call(pair, 1, '"t"', ',"task":{"ttl":1000}');
	pair.upstream.send({id: 1, result: {task: {taskId: 'a', status: 'working'}}});
	t.deepEqual(heardOf(pair, '"t"'), [progress('"t"')]);
});

test("progress of the server's own request passes, whatever its token [P4]", t => {
	const {client, upstream} = start();
	upstream.send({id: 1, method: 'sampling/createMessage', params: {_meta: {progressToken: 'q'}}});
	for (const token of ['"q"', '"other"']) client.sendText(progress(token));
	t.deepEqual(upstream.receivedTexts, [progress('"q"'), progress('"other"')]);
});

for (const server of ['2025-11-25', '2024-11-05', '2026-07-28'])
	test(`a 2025-11-25 client with a ${server} server hears of what it waits for, and of nothing else [P4]`, t => {
		const pair = versioned();
		shakeHands(pair, {client: '2025-11-25', server});
		call(pair, 1, '7');
		t.deepEqual(heardOf(pair, '7', '8'), [progress('7')]);
	});

test('long tokens of tasks are kept up to a number of characters [SEC-D5]', t => {
	const pair = start();
	const token = (at: number): string => `"${`${at}`.padEnd(4000, 'x')}"`;
	for (let at = 0; at < 200; at++) {
		call(pair, at, token(at), ',"task":{}');
		pair.upstream.send({id: at, result: {}});
	}
	t.is(heardOf(pair, token(199)).length, 1);
	t.is(heardOf(pair, token(0)).length, 0);
});
