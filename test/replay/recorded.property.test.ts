import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import {Recording} from '../../lib/replay/recording.js';
import {readLogContents} from '../../lib/traffic-log/log-contents.js';
import {newFolder} from '../helpers/program.js';
import {logLine, openLog} from './support.js';

const params = fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.parse(JSON.stringify(value)));

test('finds each message at its position, with any content and separators', async t => {
	const folder = await newFolder(t);
	let count = 0;
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.tuple(params, fc.constantFrom('\n', '\r\n', '\n\n', '\nno line\n')), {maxLength: 10}),
			fc.constantFrom('', '\ufeff'),
			async (messages, mark) => {
				const path = join(folder, `${count++}.ndjson`);
				const lines = messages.map(
					([value, end]) => logLine('client', 'it', {jsonrpc: '2.0', method: 'm', params: value}) + end,
				);
				writeFileSync(path, mark + lines.join(''));
				const recording = await Recording.open(path, [{path, isPipe: false}], undefined);
				const found = recording.contents.connections.flatMap(({messages}) => messages);
				t.deepEqual(
					found.map(message => recording.body(message).params),
					messages.map(([value]) => value),
				);
				recording.close();
			},
		),
		{numRuns: 50},
	);
});

test('ignores invalid lines', async t => {
	const path = join(await newFolder(t), 'log.ndjson');
	await fc.assert(
		fc.asyncProperty(fc.uint8Array({maxLength: 500}), async bytes => {
			writeFileSync(path, bytes);
			const {connections} = await readLogContents([{path, isPipe: false}], undefined);
			t.deepEqual(connections, []);
		}),
		{numRuns: 50},
	);
});

test('keeps the exact bytes of a message, including an id beyond 2^53', async t => {
	const text = '{"jsonrpc":"2.0", "id":9007199254740993,"method":"m","params":{"n":1.10}}';
	const line = `{"time":"2026-11-16T01:02:03.456789Z","ConnID":"a","message":${text},"from":"client","to":"x"}\n`;
	const recording = await openLog(t, line);
	const [message] = recording.contents.connections[0]?.messages ?? [];
	t.like(message, {
		kind: 'request',
		method: 'm',
		from: 'client',
		time: Date.parse('2026-11-16T01:02:03Z') * 1000 + 456_789,
	});
	t.is(message && recording.bytes(message).toString(), text);
});

test('splits a batch into messages, and counts a torn last line as broken', async t => {
	const batch = [
		{jsonrpc: '2.0', id: 1, method: 'a'},
		{jsonrpc: '2.0', method: 'b'},
	];
	const whole = logLine('client', 'it', batch);
	const recording = await openLog(t, `${whole}\n${whole.slice(0, -20)}`);
	const [connection] = recording.contents.connections;
	t.deepEqual(
		connection?.messages.map(message => recording.body(message)),
		batch,
	);
	t.is(recording.contents.brokenLines, 1);
});

test('infers the client without the open event', async t => {
	const response = {jsonrpc: '2.0', id: 1, result: {}};
	const recording = await openLog(t, `${logLine('server', 'hub', response)}\n`);
	t.like(recording.contents.connections[0], {client: 'hub', server: 'server'});
	t.is(recording.contents.connections[0]?.messages[0]?.from, 'server');
});
