import test, {type ExecutionContext} from 'ava';
import {
	back,
	eventLine,
	indexed,
	type LineOptions,
	logFile,
	type Message,
	messageLine,
	rowsOf,
} from './logs.js';

const up = {side: 'upstream'} as const;

/** Returns the pairs and twins of a log as line numbers. */
function related(t: ExecutionContext, ...lines: ReadonlyArray<readonly [Message, LineOptions?]>) {
	const content = lines.map(([message, options], line) => messageLine(message, {line, ...options}));
	const {indexer, close} = indexed([logFile(t, `${eventLine('open')}\n${content.join('\n')}\n`)]);
	close();
	const rows = rowsOf(indexer).slice(1);
	return {
		// The first line is the event.
		pairs: rows.map(({pair}) => (pair < 0 ? undefined : pair - 1)),
		twins: rows.map(({twin}) => (twin < 0 ? undefined : twin - 1)),
		rows,
		connection: indexer.connections.all[1],
	};
}

test('issue 9: pairs requests and responses by the value of their id, not by its spelling', t => {
	const {pairs, rows} = related(
		t,
		[{id: 1, method: 'ping'}],
		[{id: '1', method: 'tools/list'}],
		[{id: '1', result: {}}, back],
		[{id: 1.0, result: {}}, back],
		[{id: 7, result: {}}, back],
	);
	t.deepEqual(pairs, [3, 2, 1, 0, undefined]);
	t.is(rows[2]?.method, 'tools/list');
});

test('a response with a reused id belongs to the latest request', t => {
	const request = {id: 1, method: 'ping'};
	const response = {id: 1, result: {}};
	t.deepEqual(related(t, [request], [response, back], [request], [response, back]).pairs, [1, 0, 3, 2]);
});

test('distinguishes equal ids of different connections and of both sides', t => {
	const request = {id: 1, method: 'ping'};
	const response = {id: 1, result: {}};
	const other = {conn: '0Ab3xYzA'};
	t.deepEqual(
		related(
			t,
			[request],
			[request, other],
			[request, back],
			[response, {...other, ...back}],
			[response],
			[response, back],
		).pairs,
		[5, 3, 4, 1, 2, 0],
	);
});

test('links both records of a translated message, and pairs responses per side', t => {
	const {twins, pairs, connection} = related(
		t,
		[{id: 1, method: 'initialize', params: {protocolVersion: '2024-11-05'}}],
		[{id: 1, method: 'initialize', params: {protocolVersion: '2025-11-25'}}, up],
		[
			{id: 1, result: {protocolVersion: '2025-11-25'}},
			{...back, ...up},
		],
		[{id: 1, result: {protocolVersion: '2024-11-05'}}, back],
		[{method: 'notifications/initialized'}],
		[{method: 'notifications/initialized', params: {}}, up],
		[{method: 'notifications/message'}, {...back, ...up}],
		[{method: 'notifications/message', params: {}}, back],
	);
	t.deepEqual(twins, [1, 0, 3, 2, 5, 4, 7, 6]);
	t.deepEqual(pairs.slice(0, 4), [3, 2, 1, 0]);
	t.like(connection, {clientVersion: '2024-11-05', upstreamVersion: '2025-11-25'});
});

test('pairs requests and responses of bridge itself, without twins', t => {
	const {pairs, twins, rows} = related(
		t,
		[{id: 1, method: 'tools/list'}],
		[
			{id: 1, result: {}},
			{from: 'bridge', to: 'client'},
		],
		[
			{id: 'own', method: 'tools/list'},
			{from: 'bridge', ...up},
		],
		[
			{id: 'own', result: {}},
			{...back, ...up},
		],
	);
	t.deepEqual(pairs, [1, 0, 3, 2]);
	t.deepEqual(twins, [undefined, undefined, undefined, undefined]);
	t.deepEqual(
		rows.map(({isFromClient, isByBridge}) => [isFromClient, isByBridge]),
		[
			[true, false],
			[false, true],
			[true, true],
			[false, false],
		],
	);
});

test('recognizes a failed tool by isError of the result, not by its content', t => {
	const call = (id: number) => ({id, method: 'tools/call', params: {name: 'x'}});
	const {rows} = related(
		t,
		[call(1)],
		[{id: 1, result: {content: [], isError: true}}, back],
		[call(2)],
		[
			{
				id: 2,
				result: {content: [{type: 'text', text: '"isError":true'}], structuredContent: {isError: true}},
			},
			back,
		],
	);
	t.deepEqual(
		rows.map(({hasFailed}) => hasFailed),
		[false, true, false, false],
	);
});

test('reads the version of a stateless client from its requests', t => {
	const params = {_meta: {'io.modelcontextprotocol/protocolVersion': '2026-07-28'}};
	t.is(related(t, [{id: 1, method: 'tools/list', params}]).connection?.clientVersion, '2026-07-28');
});
