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

/** Ten kibibytes each, made to cost as much as they can. */
const hostile: ReadonlyArray<readonly [what: string, text: string]> = [
	['arrays in arrays', '['.repeat(SIZE)],
	['arrays in arrays in params', fill(params, '[', '')],
	['objects in objects', fill(params, '{"":', '')],
	['a thousand levels that are closed', `${params}${'['.repeat(990)}${']'.repeat(990)}}`],
	['many members', fill(`${params}{`, '"a":1,', '"b":1}}')],
	['many members at the top', fill('{"jsonrpc":"2.0","id":1,"method":"echo",', '"a":1,', '"b":1}')],
	['many escapes', fill(`${params}{"a":"`, '\\u0000', '"}}')],
	['many backslashes', fill(`${params}{"a":"`, '\\\\', '"}}')],
	['half a surrogate, often', fill(`${params}{"a":"`, '\\ud800', '"}}')],
	['many quotes', '"'.repeat(SIZE)],
	['one long number', fill(`${params}[`, '9', ']}')],
	['many long numbers', fill(`${params}[`, '1e308,', '1]}')],
	['an id of digits', fill('{"jsonrpc":"2.0","method":"echo","id":', '1', '}')],
	['an id that is a long text', fill('{"jsonrpc":"2.0","method":"echo","id":"', '\\"', '"}')],
	['a long method', fill('{"jsonrpc":"2.0","id":1,"method":"', 'tools/', '"}')],
	['a batch of nothings', fill('[', '{},', '{}]')],
	['a batch of pings', fill('[', '{"jsonrpc":"2.0","id":1,"method":"ping"},', '1]')],
	['white space', fill('{', ' ', '')],
	['white space and a message', fill('', ' \t\r', '{"jsonrpc":"2.0","id":1,"method":"echo"}')],
	['lines that are none', '\n'.repeat(SIZE)],
	['lines of one brace', '{\n'.repeat(SIZE / 2)],
	['keys of prototypes', fill(`${params}{`, '"__proto__":{"a":', '')],
	['a search that goes far back', fill(`${params}{"_meta":{"progressToken":`, '[', '')],
];

/** A conversation whose server answers all that it is asked, and what the client and the log get of it. */
function conversation(version: string) {
	let [heard, logged] = [0, 0];
	const log = createLog({level: 'warn', write: line => (logged += line.length), isPretty: false});
	const [client, upstream] = [memoryEndpoint('client'), memoryEndpoint('server')];
	const link = connect(
		client,
		wrapStages({log, upstream: 'server', transport: 'stdio', timeoutMs: 0}),
		upstream,
	);
	client.outgoing.next = envelope => {
		heard += envelope.size;
	};
	upstream.incoming.subscribe();
	upstream.outgoing.next = ({head: {id, method}}) => {
		const result =
			method === 'initialize' ? {protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {}} : {};
		if (id !== undefined && method !== undefined)
			upstream.sendText(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`);
	};
	const say = (text: string): void => {
		for (const line of text.split('\n')) if (line !== '') client.sendText(line);
	};
	say(
		JSON.stringify({
			jsonrpc: '2.0',
			id: 'first',
			method: 'initialize',
			params: {...opening, protocolVersion: version},
		}),
	);
	say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
	return {
		say,
		stop: () => link.unsubscribe(),
		produced: async () => {
			await log.flush();
			return heard + logged;
		},
	};
}

/** The processor time that it takes to take in a text, in microseconds, as a rule. */
function costOf(say: (text: string) => void, text: string): number {
	const times: number[] = [];
	for (let round = 0; round < 9; round++) {
		const before = process.cpuUsage();
		for (let time = 0; time < 5; time++) say(text);
		const {user, system} = process.cpuUsage(before);
		times.push((user + system) / 5);
	}
	return times.sort((one, other) => one - other)[4] ?? 0;
}

for (const version of ['2025-11-25', '2025-03-26'])
	test.serial(
		`ten kilobytes that are made to hurt cost little more than others, in ${version} [F6]`,
		async t => {
			const {say, stop, produced} = conversation(version);
			for (let round = 0; round < 200; round++) say(ordinary);
			const normal = Math.max(costOf(say, ordinary), 5);
			for (const [what, text] of hostile) {
				t.true(text.length <= SIZE + 1000, what);
				const before = await produced();
				say(text);
				const bytes = (await produced()) - before;
				t.true(bytes < 2 ** 20, `${what} makes ${bytes} bytes`);
				// Many lines are many messages, and each has its answer.
				const isMany = text.includes('\n');
				const cost = isMany ? 0 : costOf(say, text);
				t.true(cost < 100 * normal, `${what}: ${cost} µs, where others take ${normal}`);
			}
			stop();
		},
	);
