import test from 'ava';
import fc from 'fast-check';
import {ExchangeIndex} from '../../lib/replay/exchange-index.js';
import {parsePointer} from '../../lib/replay/json-pointer.js';
import {requestNotRecorded} from '../../lib/replay/not-recorded.js';
import type {RecordedExchange} from '../../lib/replay/recorded-exchanges.js';
import {logLine, openLog} from './support.js';

const usual = {ignored: [], isStrict: false};

type Called = {readonly params: object; readonly answer?: object};

/** What a client asked of one method, one after the other. */
async function library(
	t: Parameters<typeof openLog>[0],
	calls: readonly Called[],
	rules = usual,
): Promise<ExchangeIndex> {
	const lines = calls.flatMap(({params, answer = {}}, id) => [
		logLine('client', 'it', {jsonrpc: '2.0', id, method: 'tools/call', params}),
		logLine('it', 'client', {jsonrpc: '2.0', id, result: answer}),
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

/** The same members in another order. */
const turned = (value: unknown): unknown =>
	Array.isArray(value)
		? value.map(turned)
		: typeof value === 'object' && value !== null
			? Object.fromEntries(
					Object.entries(value)
						.reverse()
						.map(([name, item]) => [name, turned(item)]),
				)
			: value;

test('a recorded request is found again, in whatever order it is written, and whatever its answer is to be called', async t => {
	const params = fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.parse(JSON.stringify(value)));
	await fc.assert(
		fc.asyncProperty(fc.array(params, {minLength: 1, maxLength: 5}), async all => {
			const {_meta, ...first} = all[0];
			const found = (
				await library(
					t,
					[first, ...all.slice(1)].map(one => ({params: one})),
				)
			).find('tools/call', {
				...(turned(first) as object),
				_meta: {progressToken: 'live'},
			});
			t.true(idsOf(found).includes('0'));
		}),
		{numRuns: 50},
	);
});

test('requests that differ only in times, or in what is ignored, are the same; others have a nearest one', async t => {
	const calls = [
		{params: {name: 'a', arguments: {at: '2026-11-16T01:02:03Z', token: '[redacted]'}}},
		{params: {name: 'b', arguments: {text: 'hello', n: 1}}},
	];
	const known = await library(t, calls);
	const find = (params: object) => known.find('tools/call', params);
	t.deepEqual(idsOf(find({name: 'a', arguments: {at: '2020-01-01T00:00:00Z', token: 'x'}})), ['0']);
	const other = find({name: 'b', arguments: {text: 'bye', n: 1}});
	t.false('same' in other);
	if ('same' in other) return;
	const {message, code} = requestNotRecorded({method: 'tools/call', exchanges: known, ...other});
	t.is(code, 'ERR_REQUEST_UNRECORDED');
	t.is(
		message,
		'The recording has no tools/call with these params. The nearest one is tools/call b: /params/arguments/text is "hello" there and "bye" here.',
	);
	const ignored = [parsePointer('/params/arguments/text') ?? []];
	const lenient = await library(t, calls, {ignored, isStrict: false} as unknown as typeof usual);
	t.deepEqual(idsOf(lenient.find('tools/call', {name: 'b', arguments: {text: 'bye', n: 1}})), ['1']);
});

test('a method that was never asked has the nearest one named', async t => {
	const known = await library(t, [{params: {}}]);
	const found = known.find('tools/cal', {});
	if ('same' in found) return t.fail();
	const error = requestNotRecorded({method: 'tools/cal', exchanges: known, ...found});
	t.is(error.sentence, 'The recording has no tools/cal. Did you mean tools/call? It has: tools/call.');
	t.is(error.toRpc().code, -32_601);
});
