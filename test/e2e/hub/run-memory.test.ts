import process from 'node:process';
import {inspect} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {type ClientSession, messageIn, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {peakMiB} from '../../helpers/program.js';
import {inlineServer} from './inline-server.js';
import {textIn} from './support.js';

/** An MCP server whose tools return about 1 MiB (`image`: 4 MiB, `long`: 13 MiB) or their argument. */
const large = inlineServer(`
const names = ['text', 'list', 'objects', 'echo', 'image', 'long'];
const properties = {value: {}};
methods['tools/list'] = () => ({tools: names.map(name => ({name, inputSchema: {type: 'object', properties}}))});
const list = JSON.stringify(Array.from({length: 50000}, () => 'x'.repeat(17)));
const objects = JSON.stringify(Array.from({length: 39000}, (_, at) => ({['key' + at]: at})));
const texts = {
	text: () => 'x'.repeat(1048000),
	list: () => list,
	objects: () => objects,
	echo: ({value}) => value,
	long: () => 'x'.repeat(13 * 2 ** 20),
};
const image = {content: [{type: 'image', mimeType: 'image/png', data: 'A'.repeat(3.9 * 2 ** 20)}]};
methods['tools/call'] = ({name, arguments: args}) =>
	name === 'image' ? image : {content: [{type: 'text', text: texts[name](args)}]};
`);

/**
 * The memory limit of a run, 128 MiB, plus garbage that V8 has not collected yet: up to 32 MiB of young
 * generation in Node 20 and 96 MiB in later versions.
 */
const MAX_GROWTH_MIB = 128 + (Number.parseInt(process.versions.node, 10) < 22 ? 32 : 96);
/** Higher, since V8 keeps the hidden classes of objects with different keys longer in Node 22 and later. */
const MAX_KEYS_GROWTH_MIB = MAX_GROWTH_MIB + (Number.parseInt(process.versions.node, 10) < 22 ? 0 : 64);
const TIMEOUT_MS = 170_000;

let ids = 0;
const run = async (gateway: RunningGateway, {headers}: ClientSession, command: string): Promise<string> => {
	const params = {name: 'run', arguments: {command}};
	const response = await gateway.fetch('/mcp', {
		method: 'POST',
		headers: {...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream'},
		body: JSON.stringify({jsonrpc: '2.0', id: ++ids, method: 'tools/call', params}),
		signal: AbortSignal.timeout(TIMEOUT_MS),
	});
	return textIn(messageIn(response));
};

/** Sends a ping. Reports a connection failure with its cause and the log of the gateway. */
async function ping(t: ExecutionContext, {running}: RunningGateway, client: ClientSession): Promise<void> {
	try {
		t.deepEqual((await client.request(++ids, 'ping')).result, {});
	} catch (error) {
		const {cause} = error as Error;
		t.fail(
			`${error}, ${inspect(cause)}, exit code ${running.child.exitCode}: ${running.stderr.slice(-4000)}`,
		);
		throw error;
	}
}

/** A program that repeats failing calls and returns the last error. */
const failing = (tool: string, times: number): string =>
	`for _ in range(${times}):\n  try: large.${tool}()\n  except ToolError as e: x = str(e)\nx`;
const tooLong =
	/^large\.long returned \d+ bytes; the limit of a whole response is 4194304\. Request less data, or raise limits\.runCall\.$/;

for (const [what, command, expected] of [
	['results', 'for _ in range(90): x = large.text()\nlen(x)', /^1048000$/],
	['lists', 'for _ in range(90): x = large.list()\nlen(x)', /^50000$/],
	['lists of objects with different keys', 'for _ in range(90): x = large.objects()\nlen(x)', /^39000$/],
	[
		'arguments and results',
		'y = "y" * 1_048_000\nfor _ in range(90): x = large.echo(value=y)\nlen(x)',
		/^1048000$/,
	],
	['images', 'for _ in range(90): x = large.image()\nx', /^\[image\/png, 3067084 bytes\]$/],
	['images in one batch', 'len(large.image.batch([{}] * 100))', /^100$/],
	['rejected responses', failing('long', 60), tooLong],
	[
		'rejected responses in one batch',
		'large.long.batch([{}] * 60, return_errors=True)[59]["error"]',
		tooLong,
	],
] as const)
	test.serial(
		`limits memory and responds to other clients while a program loops calls with the longest ${what} [SEC-D2]`,
		async t => {
			const gateway = await startGateway(t, {servers: {large}, runTimeout: '10m'});
			const [looping, other] = [await gateway.open(''), await gateway.open('')];
			await run(gateway, other, '[1][:]');
			const before = peakMiB(gateway.running.pid);
			let isOver = false;
			const result = run(gateway, looping, command).finally(() => {
				isOver = true;
			});
			while (!isOver) await ping(t, gateway, other);
			// Images are additional parts without text.
			t.regex((await result).trim(), expected);
			const growth = peakMiB(gateway.running.pid) - before;
			t.log(`${Math.round(growth)} MiB more`);
			const max = what.includes('keys') ? MAX_KEYS_GROWTH_MIB : MAX_GROWTH_MIB;
			t.true(growth < max, `${growth} MiB more`);
		},
	);

for (const [runCall, limit] of [
	['1MiB', tooLong],
	['4MiB', /^large\.long returned \d+ bytes; the limit is 4194304\. Request less data\.$/],
] as const)
	test.serial(
		`rejects a response of 13 MiB by the limit of a response or of a result, with ${runCall} per call [SEC-D2]`,
		async t => {
			const gateway = await startGateway(t, {servers: {large}, limits: {runCall}, runTimeout: '10m'});
			const command = 'try: large.long()\nexcept ToolError as e: x = str(e)\nprint(x)';
			t.regex((await run(gateway, await gateway.open(''), command)).trim(), limit);
		},
	);
