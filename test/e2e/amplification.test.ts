import process from 'node:process';
import test from 'ava';
import {createLog} from '../../lib/core/log.js';
import {memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {connect} from '../../lib/core/stage.js';
import {wrapStages} from '../../pipelines/wrap.js';
import {opening} from '../helpers/bridge.js';

const SIZE = 10_240;
const fill = (start: string, piece: string, end: string): string =>
	start + piece.repeat(Math.floor((SIZE - start.length - end.length) / piece.length)) + end;
const params = '{"jsonrpc":"2.0","id":1,"method":"echo","params":';

const ordinary = fill(`${params}{"text":"`, 'lorem ipsum ', '"}}');

/** Hostile messages of 10 KiB, which are expensive to parse. */
const hostile: ReadonlyArray<readonly [title: string, text: string]> = [
	['arrays in arrays', '['.repeat(SIZE)],
	['arrays in arrays in params', fill(params, '[', '')],
	['objects in objects', fill(params, '{"":', '')],
	['990 levels of nesting', `${params}${'['.repeat(990)}${']'.repeat(990)}}`],
	['many members', fill(`${params}{`, '"a":1,', '"b":1}}')],
	['many members at the top', fill('{"jsonrpc":"2.0","id":1,"method":"echo",', '"a":1,', '"b":1}')],
	['many escapes', fill(`${params}{"a":"`, '\\u0000', '"}}')],
	['many backslashes', fill(`${params}{"a":"`, '\\\\', '"}}')],
	['many lone surrogates', fill(`${params}{"a":"`, '\\ud800', '"}}')],
	['many quotes', '"'.repeat(SIZE)],
	['one long number', fill(`${params}[`, '9', ']}')],
	['many long numbers', fill(`${params}[`, '1e308,', '1]}')],
	['an id of digits', fill('{"jsonrpc":"2.0","method":"echo","id":', '1', '}')],
	['a long string as an id', fill('{"jsonrpc":"2.0","method":"echo","id":"', '\\"', '"}')],
	['a long method', fill('{"jsonrpc":"2.0","id":1,"method":"', 'tools/', '"}')],
	['a batch of empty objects', fill('[', '{},', '{}]')],
	['a batch of pings', fill('[', '{"jsonrpc":"2.0","id":1,"method":"ping"},', '1]')],
	['white space', fill('{', ' ', '')],
	['white space and a message', fill('', ' \t\r', '{"jsonrpc":"2.0","id":1,"method":"echo"}')],
	['empty lines', '\n'.repeat(SIZE)],
	['lines of one brace', '{\n'.repeat(SIZE / 2)],
	['keys of prototypes', fill(`${params}{`, '"__proto__":{"a":', '')],
	['nested arrays in a progress token', fill(`${params}{"_meta":{"progressToken":`, '[', '')],
];

/** A conversation whose upstream responds to every request. `produced` counts bytes for the client and the log. */
function conversation(version: string) {
	let [sent, logged] = [0, 0];
	const log = createLog({level: 'warn', write: line => (logged += line.length), isPretty: false});
	const [client, upstream] = [memoryEndpoint('client'), memoryEndpoint('server')];
	const subscription = connect(
		client,
		wrapStages({log, upstream: 'server', transport: 'stdio', timeoutMs: 0}),
		upstream,
	);
	client.outgoing.next = envelope => {
		sent += envelope.size;
	};
	upstream.incoming.subscribe();
	upstream.outgoing.next = ({head: {id, method}}) => {
		const result =
			method === 'initialize' ? {protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {}} : {};
		if (id !== undefined && method !== undefined)
			upstream.sendText(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`);
	};
	const send = (text: string): void => {
		for (const line of text.split('\n')) if (line !== '') client.sendText(line);
	};
	send(
		JSON.stringify({
			jsonrpc: '2.0',
			id: 'first',
			method: 'initialize',
			params: {...opening, protocolVersion: version},
		}),
	);
	send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
	return {
		send,
		stop: () => subscription.unsubscribe(),
		produced: async () => {
			await log.flush();
			return sent + logged;
		},
	};
}

/** The median CPU time to process a text, in microseconds. */
function costOf(send: (text: string) => void, text: string): number {
	const times: number[] = [];
	for (let round = 0; round < 9; round++) {
		const before = process.cpuUsage();
		for (let time = 0; time < 5; time++) send(text);
		const {user, system} = process.cpuUsage(before);
		times.push((user + system) / 5);
	}
	return times.sort((one, other) => one - other)[4] ?? 0;
}

for (const version of ['2025-11-25', '2025-03-26'])
	test.serial(
		`messages of 10 KiB with hostile contents cost little more CPU time and output than others, in ${version} [F6]`,
		async t => {
			const {send, stop, produced} = conversation(version);
			for (let round = 0; round < 200; round++) send(ordinary);
			const normal = Math.max(costOf(send, ordinary), 5);
			for (const [title, text] of hostile) {
				t.true(text.length <= SIZE + 1000, title);
				const before = await produced();
				send(text);
				const bytes = (await produced()) - before;
				t.true(bytes < 2 ** 20, `${title} cause ${bytes} bytes of output`);
				// Each line is a separate message with its own error response, so the CPU time is not compared.
				const isMany = text.includes('\n');
				const cost = isMany ? 0 : costOf(send, text);
				t.true(cost < 100 * normal, `${title}: ${cost} µs instead of ${normal} µs`);
			}
			stop();
		},
	);
