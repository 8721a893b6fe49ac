import {appendFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import {encodePercentText} from '../../lib/wire/percent-text.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {eventLine, indexed, logFile, messageLine, rowsOf, timeAt} from './logs.js';

type Members = {readonly [key: string]: unknown};
const isMembers = (value: unknown): value is Members =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

const parsed = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
};

/** Parses a log line by line with JSON.parse. */
function expectedRows(content: string): object[] {
	let offset = 0;
	const rows: object[] = [];
	for (const line of content.split('\n')) {
		const text = line.replace(/\r$/, '');
		const bytes = Buffer.byteLength(text);
		if (!/^[\0- ]*$/.test(text)) rows.push({offset, bytes, ...expectedRow(text)});
		offset += Buffer.byteLength(line) + 1;
	}
	return rows;
}

function expectedRow(text: string): object {
	const line = parsed(text);
	if (!isMembers(line)) return {kind: 'broken', size: 0, time: Number.NaN, conn: undefined, method: ''};
	const {message, data, event} = line;
	const isData = message === undefined && typeof data === 'string';
	const kind = message === undefined ? (isData ? 'data' : 'event') : messageKind(message);
	return {
		kind,
		time: typeof line.time === 'string' ? Date.parse(line.time) * 1000 : Number.NaN,
		conn: typeof line.ConnID === 'string' ? line.ConnID : undefined,
		...(kind === 'request' || kind === 'notification' ? {method: (message as Members).method} : {}),
		...(kind === 'event' && typeof event === 'string' ? {method: event} : {}),
	};
}

function messageKind(message: unknown): string {
	if (!isMembers(message)) return 'other';
	const {id, method, result, error} = message;
	if (typeof method === 'string')
		return typeof id === 'string' || typeof id === 'number' ? 'request' : 'notification';
	if (error !== undefined) return 'error';
	return result === undefined ? 'other' : 'result';
}

const text = fc.string({
	unit: fc.constantFrom('a', 'é', '"', '\\', '\n', '%', '<b>', '\u001b[31m', '𝄞'),
	maxLength: 12,
});
const id = fc.oneof(fc.nat(9), text, fc.constant(null), fc.constant(undefined), fc.constant(true));
const message = fc.record(
	{
		jsonrpc: fc.constant('2.0'),
		id,
		method: fc.constantFrom('ping', 'tools/call', 'initialize', 'x', undefined),
		params: fc.jsonValue({maxDepth: 2}),
		result: fc.option(fc.jsonValue({maxDepth: 2}), {nil: undefined}),
		error: fc.option(fc.constant({code: 1, message: 'no'}), {nil: undefined}),
	},
	{requiredKeys: []},
);
const line = fc
	.record(
		{
			time: fc.constantFrom(timeAt(1), timeAt(2), '2026-11-16', 'never', 7),
			ConnID: fc.constantFrom('0Ab3xYz9', '0Ab3xYzA', '<i>', 1),
			event: fc.constantFrom('open', 'close', 'gap', undefined),
			data: fc.option(text, {nil: undefined}),
			message: fc.oneof(message, message, fc.jsonValue({maxDepth: 1})),
			from: fc.constantFrom('client', 'files', 'bridge', text),
			to: fc.constantFrom('client', 'files'),
			side: fc.constantFrom('client', 'upstream'),
		},
		{requiredKeys: []},
	)
	.map(members => JSON.stringify(members));
/** Log lines: valid, truncated, not JSON, blank, with spaces, with escaped keys. */
const anyLine = fc.oneof(
	{weight: 6, arbitrary: line},
	{weight: 1, arbitrary: fc.tuple(line, fc.nat(40)).map(([whole, at]) => whole.slice(0, at))},
	{
		weight: 1,
		arbitrary: fc.constantFrom('', ' ', '\t', '[1]', 'null', '{', '}', '{"message":[', '"}{"', '{}', '[[[['),
	},
	{weight: 1, arbitrary: line.map(whole => ` ${whole.replace('"message":', '"mess\\u0061ge" : ')} `)},
	{weight: 1, arbitrary: line.map(whole => whole.replace('"time"', '"tame"'))},
);
const log = fc
	.tuple(fc.array(fc.tuple(anyLine, fc.constantFrom('\n', '\n', '\r\n'))), fc.boolean())
	.map(([lines, hasEnd]) => `${lines.flat().join('')}${hasEnd ? eventLine('close') : ''}`);

test('issue 9: the index matches a parser, whatever the block size of reads', t => {
	const folder = tempFolder(t);
	const file = join(folder, 'log.ndjson');
	fc.assert(
		fc.property(log, fc.integer({min: 1, max: 300}), (content, readBytes) => {
			writeFileSync(file, content);
			const {indexer, close} = indexed([file], {readBytes});
			close();
			const found = rowsOf(indexer);
			const expected = expectedRows(content);
			t.is(found.length, expected.length, content);
			for (const [at, row] of expected.entries()) t.like(found[at], row, `${at} of ${content}`);
		}),
		{numRuns: 200},
	);
});

test('sizes are those of the message and of the decoded data', t => {
	const bytes = Buffer.from(Array.from({length: 256}, (_, byte) => byte));
	const data = JSON.stringify({
		time: timeAt(0),
		ConnID: 'a',
		data: encodePercentText(bytes),
		from: 'a',
		to: 'b',
	});
	const request = {id: 1, method: 'ping'};
	const {indexer, close} = indexed([logFile(t, `${messageLine(request)}\n${data}\n`)]);
	close();
	const [first, second] = rowsOf(indexer);
	t.is(first?.size, JSON.stringify({jsonrpc: '2.0', ...request}).length);
	t.is(second?.size, 256);
});

test('a line over the limit is one row, needs little memory, and does not affect the next lines', t => {
	const long = messageLine({id: 1, method: 'big', params: {text: 'x'.repeat(50_000)}});
	const content = `${eventLine('open')}\n${long}\n${messageLine({id: 2, method: 'ping'})}\n`;
	for (const readBytes of [100, 4096, 30_000, 2 ** 20]) {
		const {indexer, close} = indexed([logFile(t, content)], {readBytes, maxLine: 20_000});
		close();
		const [, big, last] = rowsOf(indexer);
		t.is(big?.bytes, long.length);
		t.like(last, {kind: 'request', method: 'ping', bytes: messageLine({id: 2, method: 'ping'}).length});
		t.true(indexer.text.length < 2 ** 21);
	}
});

test('a truncated last line becomes a row only when its rest is written', t => {
	const whole = messageLine({id: 1, method: 'ping'});
	const file = logFile(t, `${eventLine('open')}\n${whole.slice(0, 50)}`);
	const {indexer, run, close} = indexed([file]);
	t.is(indexer.columns.count, 1);
	t.is(run.tailBytes, 50);
	appendFileSync(file, `${whole.slice(50)}\n${messageLine({id: 2, method: 'ping'})}`);
	while (run.step());
	t.is(indexer.columns.count, 3);
	t.is(run.tailBytes, 0);
	appendFileSync(file, `\n${messageLine({id: 3, method: 'ping'})}\n`);
	while (run.step());
	close();
	t.deepEqual(
		rowsOf(indexer).map(({kind}) => kind),
		['event', 'request', 'request', 'request'],
	);
});

test('several files are one log, and the end of a file ends its last line', t => {
	const files = [1, 2, 3].map(id => logFile(t, messageLine({id, method: 'ping'})));
	const {indexer, close} = indexed(files, {readBytes: 64});
	close();
	const {length} = messageLine({id: 1, method: 'ping'});
	t.deepEqual(
		rowsOf(indexer).map(({offset, kind}) => [offset, kind]),
		[0, 1, 2].map(at => [at * length, 'request']),
	);
});
