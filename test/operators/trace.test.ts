import test from 'ava';
import {Envelope} from '../../lib/core/envelope.js';
import {parse} from '../../lib/operators/parse.js';
import {type TraceOptions, trace, traceLabel} from '../../lib/operators/trace.js';
import {converse, readableLog} from '../helpers/pipeline.js';

const start = (options: Partial<TraceOptions> = {}) => {
	const lines: string[] = [];
	const clock = {ms: 0};
	const stage = trace({
		write: line => lines.push(line),
		hasColor: false,
		now: () => new Date(2026, 10, 16, 1, 2, 3, 45 + clock.ms),
		elapsed: () => clock.ms,
		...options,
	});
	// The traced messages may be invalid, and later stages need valid ones.
	return {
		...converse(
			stage,
			parse({log: readableLog().log, from: 'client'}),
			parse({log: readableLog().log, from: 'upstream'}),
		),
		lines,
		clock,
	};
};

const ESC = '\u001b';

test('shows a request: time, direction, method, id, size', t => {
	const {client, lines} = start();
	client.sendText('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
	t.deepEqual(lines, ['01:02:03.045 → tools/list                   #1        46 B\n']);
});

test('shows a response with the method of its request and its latency', t => {
	const {client, upstream, lines, clock} = start();
	client.sendText('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
	clock.ms = 12.34;
	upstream.sendText('{"jsonrpc":"2.0","id":1,"result":{}}');
	t.is(lines[1], '01:02:03.057 ← tools/list                   #1        36 B    12.3 ms\n');
});

test('shows a notification without an id', t => {
	const {upstream, lines} = start();
	upstream.sendText('{"jsonrpc":"2.0","method":"notifications/progress"}');
	t.deepEqual(lines, ['01:02:03.045 ← notifications/progress                 51 B\n']);
});

test('shows the tool of a call', t => {
	const {client, lines} = start();
	client.send({id: 1, method: 'tools/call', params: {name: 'read_file'}});
	t.regex(lines[0] ?? '', / → tools\/call read_file +#1 /);
});

for (const [value, params] of [
	['no params', {}],
	['null for params', {params: null}],
	['a string for params', {params: 'x'}],
	['an array for params', {params: []}],
	['a name that is not a string', {params: {name: {toString: 1}}}],
] as const)
	test(`forwards a tools/call with ${value}, and the next message`, t => {
		const {client, upstream, lines} = start();
		client.send({id: 1, method: 'tools/call', ...params});
		client.send({id: 2, method: 'ping'});
		t.is(upstream.received.length, 2);
		t.is(lines.length, 2);
		t.regex(lines[0] ?? '', / → tools\/call/);
	});

for (const [value, error] of [
	['null', null],
	['a string', 'broken'],
	['an object without a message', {code: 5}],
	['an object whose message is not a string', {code: 5, message: {toString: 1}}],
] as const)
	test(`forwards an error that is ${value}, and the next message`, t => {
		const {client, upstream, lines} = start();
		upstream.send({id: 1, error});
		upstream.send({id: 2, result: {}});
		t.is(client.received.length, 2);
		t.is(lines.length, 2);
	});

test('shows the code and the message of an error', t => {
	const {client, upstream, lines} = start();
	client.send({id: 1, method: 'x'});
	upstream.send({id: 1, error: {code: -32_601, message: 'no such method'}});
	t.regex(lines[1] ?? '', / ← x +#1 +\d+ B +0\.0 ms error -32601: no such method\n$/);
});

test('shows the flaw of an invalid message', t => {
	const {client, lines} = start();
	client.sendText('hello');
	client.sayEnvelope(Envelope.tooLarge(Buffer.from('{"id":4'), {id: '4', isResponse: false}, client.origin));
	t.regex(lines[0] ?? '', / → not JSON /);
	t.regex(lines[1] ?? '', / ← error .* error -32700: /);
	t.regex(lines[2] ?? '', / → too large +#4 /);
});

test('formats sizes with decimal units', t => {
	const {client, lines} = start();
	for (const size of [999, 1000, 999_949, 1_000_000, 2_500_000]) {
		const frame = '{"jsonrpc":"2.0","method":"m","params":""}'.length;
		client.sendText(`{"jsonrpc":"2.0","method":"m","params":"${'x'.repeat(size - frame)}"}`);
	}
	t.deepEqual(
		lines.map(line => line.slice(-9).trim()),
		['999 B', '1.0 kB', '999.9 kB', '1.0 MB', '2.5 MB'],
	);
});

test('colors times, directions and errors on a terminal', t => {
	const {client, upstream, lines} = start({hasColor: true});
	client.send({id: 1, method: 'x'});
	upstream.send({id: 1, error: {code: 1, message: 'bad'}});
	t.true(lines[0]?.startsWith(`${ESC}[2m01:02:03.045${ESC}[0m ${ESC}[36m→${ESC}[0m x `));
	t.true(lines[1]?.includes(`${ESC}[32m←${ESC}[0m ${ESC}[31mx `));
	t.true(lines[1]?.endsWith(`${ESC}[31merror 1: bad${ESC}[0m\n`));
});

test('escapes control characters in messages', t => {
	const {client, upstream, lines} = start();
	const evil = `a${ESC}[2J\n\u007f\u009b1m`;
	client.send({id: evil, method: evil});
	client.send({id: 1, method: 'tools/call', params: {name: evil}});
	upstream.send({id: evil, error: {code: 1, message: evil}});
	upstream.send({id: 2, error: {code: evil, message: ''}});
	t.is(lines.length, 4);
	for (const line of lines) {
		t.true(line.endsWith('\n'));
		// biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them
		t.notRegex(line.slice(0, -1), /[\u0000-\u001f\u007f-\u009f]/);
	}
	t.regex(lines[0] ?? '', /a\\x1b\[2J\\x0a\\x7f\\x9b1m/);
});

test('distinguishes equal ids of the two sides', t => {
	const {client, upstream, lines, clock} = start();
	client.send({id: 1, method: 'from-client'});
	upstream.send({id: 1, method: 'from-upstream'});
	clock.ms = 5;
	client.send({id: 1, result: {}});
	clock.ms = 9;
	upstream.send({id: 1, result: {}});
	t.regex(lines[2] ?? '', / → from-upstream .* 5\.0 ms\n/);
	t.regex(lines[3] ?? '', / ← from-client .* 9\.0 ms\n/);
});

test('shows the latency only for the first response', t => {
	const {client, upstream, lines} = start();
	client.send({id: 1, method: 'x'});
	upstream.send({id: 1, result: {}});
	upstream.send({id: 1, result: {}});
	t.regex(lines[2] ?? '', / ← result .* B\n$/);
});

test('matches requests and responses in the same direction with isOneWay', t => {
	const {client, lines, clock} = start({isOneWay: true});
	client.send({id: 1, method: 'x'});
	clock.ms = 7;
	client.send({id: 1, result: {}});
	t.regex(lines[1] ?? '', / → x .* 7\.0 ms\n$/);
});

test('shows no latency for a response without a request', t => {
	const {client, lines} = start({isOneWay: true});
	client.send({id: 1, result: {}});
	t.regex(lines[0] ?? '', / → result +#1 +36 B\n$/);
});

test('does not change messages', t => {
	const {client, upstream} = start();
	const text = ' {"jsonrpc" : "2.0", "id":1.0,"method":"tools/call","params":{"name":"x"}} ';
	client.sendText(text);
	upstream.sendText(text);
	t.deepEqual(upstream.receivedTexts, [text]);
	t.deepEqual(client.receivedTexts, [text]);
});

test('evicts the oldest of more than 10,000 pending requests', t => {
	const {client, upstream, lines} = start();
	for (let id = 0; id <= 10_000; id++) client.send({id, method: 'x'});
	upstream.send({id: 0, result: {}});
	upstream.send({id: 1, result: {}});
	t.regex(lines.at(-2) ?? '', / ← result .* B\n$/);
	t.regex(lines.at(-1) ?? '', / ← x .* ms\n$/);
});

test('truncates a long tool name and id to their columns, and appends the full name [U-P1-12]', t => {
	const {client, upstream, lines} = start();
	const name = 'a_tool_with_a_name_that_is_longer_than_its_column';
	client.send({id: 1, method: 'ping'});
	client.send({id: 'a-long-id-with-1', method: 'tools/call', params: {name}});
	upstream.send({id: 'a-long-id-with-1', result: {}});
	const at = (line = '', unit = ' B'): number => line.indexOf(unit);
	t.is(at(lines[1]), at(lines[0]));
	t.is(at(lines[2]), at(lines[0]));
	t.regex(lines[1] ?? '', /→ tools\/call a_tool_with_a_na… #"a…h-1" .* tools\/call a_tool_with\w+_column\n$/);
	t.regex(lines[2] ?? '', / ms\n$/);
});

test('shows a unique label of 20 columns for each conversation after the time [U-P1-12]', t => {
	const [one, two] = [traceLabel('files'), traceLabel('files')];
	t.not(one, two);
	t.is(traceLabel('a-service-with-a-very-long-name').length, 20);
	const {client, lines} = start({label: 'files#1'});
	client.send({id: 1, method: 'ping'});
	t.regex(lines[0] ?? '', /^01:02:03\.045 files#1 {13} → ping /);
});
