import test from 'ava';
import fc from 'fast-check';
import {ExchangeIndex} from '../../lib/replay/exchange-index.js';
import {parsePointer} from '../../lib/replay/json-pointer.js';
import {requestNotRecorded} from '../../lib/replay/not-recorded.js';
import type {RecordedExchange} from '../../lib/replay/recorded-exchanges.js';
import {logLine, openLog} from './support.js';

const defaultRules = {ignored: [], isStrict: false};

type Called = {readonly params: object; readonly result?: object};

/** An index of these calls, which a client sent in sequence. */
async function indexOf(
	t: Parameters<typeof openLog>[0],
	calls: readonly Called[],
	rules = defaultRules,
): Promise<ExchangeIndex> {
	const lines = calls.flatMap(({params, result = {}}, id) => [
		logLine('client', 'it', {jsonrpc: '2.0', id, method: 'tools/call', params}),
		logLine('it', 'client', {jsonrpc: '2.0', id, result}),
	]);
	const recording = await openLog(t, lines.join('\n'));
	return new ExchangeIndex(
		recording,
		recording.contents.connections.map(({messages}) => messages),
		rules,
	);
}

const idsOf = (found: ReturnType<ExchangeIndex['find']>): unknown[] =>
	'same' in found ? found.same.map(({message}: RecordedExchange) => message.key) : [];

/** The same value with reversed members. */
const reversed = (value: unknown): unknown =>
	Array.isArray(value)
		? value.map(reversed)
		: typeof value === 'object' && value !== null
			? Object.fromEntries(
					Object.entries(value)
						.reverse()
						.map(([name, item]) => [name, reversed(item)]),
				)
			: value;

test('finds a recorded request for any order of members and any progress token', async t => {
	const params = fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.parse(JSON.stringify(value)));
	await fc.assert(
		fc.asyncProperty(fc.array(params, {minLength: 1, maxLength: 5}), async all => {
			const {_meta, ...first} = all[0];
			const found = (
				await indexOf(
					t,
					[first, ...all.slice(1)].map(params => ({params})),
				)
			).find('tools/call', {
				...(reversed(first) as object),
				_meta: {progressToken: 'live'},
			});
			t.true(idsOf(found).includes('0'));
		}),
		{numRuns: 50},
	);
});

test('matches requests that differ only in times or ignored values, and finds the nearest one otherwise', async t => {
	const calls = [
		{params: {name: 'a', arguments: {at: '2026-11-16T01:02:03Z', token: '[redacted]'}}},
		{params: {name: 'b', arguments: {text: 'hello', n: 1}}},
	];
	const index = await indexOf(t, calls);
	const find = (params: object) => index.find('tools/call', params);
	t.deepEqual(idsOf(find({name: 'a', arguments: {at: '2020-01-01T00:00:00Z', token: 'x'}})), ['0']);
	const other = find({name: 'b', arguments: {text: 'bye', n: 1}});
	t.false('same' in other);
	if ('same' in other) return;
	const {message, code} = requestNotRecorded({method: 'tools/call', exchanges: index, ...other});
	t.is(code, 'ERR_REQUEST_UNRECORDED');
	t.is(
		message,
		'The recording has no tools/call with these params. The nearest one is tools/call b: /params/arguments/text is "hello" there and "bye" here.',
	);
	const ignored = [parsePointer('/params/arguments/text') ?? []];
	const lenient = await indexOf(t, calls, {ignored, isStrict: false} as unknown as typeof defaultRules);
	t.deepEqual(idsOf(lenient.find('tools/call', {name: 'b', arguments: {text: 'bye', n: 1}})), ['1']);
});

test('suggests the nearest method for one that was not recorded', async t => {
	const index = await indexOf(t, [{params: {}}]);
	const found = index.find('tools/cal', {});
	if ('same' in found) return t.fail();
	const error = requestNotRecorded({method: 'tools/cal', exchanges: index, ...found});
	t.is(error.sentence, 'The recording has no tools/cal. Did you mean tools/call? It has: tools/call.');
	t.is(error.toRpc().code, -32_601);
});
