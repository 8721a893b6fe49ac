import test, {type ExecutionContext} from 'ava';
import {type ClientSession, messageIn, shareGateway} from '../../helpers/gateway.js';
import {peakMiB} from '../../helpers/program.js';
import {shop, textIn} from './support.js';

// A long runTimeout, so that no run times out on a busy machine.
const gateway = shareGateway({servers: {echo: shop('echo')}, runTimeout: '10m'});

const MAX_GROWTH_MIB = 400;
const MIN_PINGS = 10;
const MIN_RUNS = 3;

let ids = 0;
/** Longer than the timeout of the helper, since runs can be slow. */
const RUN_TIMEOUT_MS = 170_000;
const run = async ({headers}: ClientSession, command: string): Promise<string> => {
	const params = {name: 'run', arguments: {command}};
	const response = await gateway().fetch('/mcp', {
		method: 'POST',
		headers: {...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream'},
		body: JSON.stringify({jsonrpc: '2.0', id: ++ids, method: 'tools/call', params}),
		signal: AbortSignal.timeout(RUN_TIMEOUT_MS),
	});
	return textIn(messageIn(response));
};

async function ping(t: ExecutionContext, client: ClientSession): Promise<void> {
	t.is((await gateway().fetch('/healthz')).status, 200);
	t.deepEqual((await client.request(++ids, 'ping')).result, {});
}

/** Pings while two hostile programs run at a time, until enough runs have ended. Returns their results. */
async function resultsUnderPing(t: ExecutionContext, command: string): Promise<string[]> {
	const [hostile, other] = [await gateway().open(''), await gateway().open('')];
	await run(other, '[1][:]');
	const before = peakMiB(gateway().running.pid);
	const results: string[] = [];
	let isEnough = false;
	const attack = async (): Promise<void> => {
		while (!isEnough) results.push(await run(hostile, command));
	};
	const attacks = Promise.all([attack(), attack()]);
	for (let pings = 0; pings < MIN_PINGS || results.length < MIN_RUNS; pings++) await ping(t, other);
	isEnough = true;
	await attacks;
	const growth = peakMiB(gateway().running.pid) - before;
	t.true(growth < MAX_GROWTH_MIB, `${growth} MiB more`);
	return results;
}

const flood = (seconds: number): string =>
	[
		'import os, time',
		`calls = b'{"call":["nope","x",[],{}]}\\n' * 2000`,
		'began = time.time()',
		`while time.time() - began < ${seconds}: os.write(2, calls)`,
	].join('\n');
const forged = (line: string): string => `import os\nos.write(2, ${line} + b'\\n')\nos.read(0, 100)`;
const intrusion = /InterpreterError: The program wrote to file 2, which only the interpreter may use\.$/;
const manyItems = /ToolError: batch\(\) got \d+ items, and a run may make 100 calls\. Pass fewer items\.$/;

for (const [what, command, expected] of [
	['floods it with forged calls for half a second', flood(0.5), intrusion],
	['floods it with forged calls for six seconds', flood(6), intrusion],
	[
		'makes a call before it has read the reply to another',
		`import os\nos.write(2, b'{"call":["nope","x",[],{}]}\\n' * 2)\nwhile True: pass`,
		intrusion,
	],
	['makes a batch of 3,000,000 calls', 'echo.slow.batch([1] * 3000000)', manyItems],
	[
		'makes a batch of 1,500,000 calls with return_errors',
		'echo.slow.batch([{}] * 1500000, return_errors=True)',
		manyItems,
	],
	['writes out a batch of 12,000 calls', `echo.slow.batch([${'{},'.repeat(12_000)}])`, manyItems],
	[
		'writes out a batch of 8,000 calls, which needs no interpreter',
		`echo.slow.batch([${'1,'.repeat(8000)}])`,
		manyItems,
	],
	[
		'forges a batch of 300,000 calls',
		forged(`b'{"batch":["echo","slow",[[' + b'[],' * 300000 + b'0]],{}]}'`),
		/OutputLimit: A call of the program has more than 100000 values, or is nested too deeply\. Pass less data\.$/,
	],
	[
		'forges a result with a million values',
		forged(`b'{"done":{"kind":"text","text":"x","more":[' + b'[],' * 1000000 + b'0]}}'`),
		intrusion,
	],
	[
		'forges a result that is nested too deeply',
		forged(`b'{"done":{"kind":"json","text":"' + b'[' * 100000 + b']' * 100000 + b'"}}'`),
		/ValueError: The result is nested too deeply\.$/,
	],
	[
		'repeats calls that fail',
		'while True:\n  try: echo.nothing()\n  except ToolError: pass',
		/CallLimit: The program tried to make more than 200 calls, failed ones included\./,
	],
	['prints endlessly', 'while True: print("x" * 10000)', /OutputLimit: The program printed more than/],
	[
		'writes to stderr endlessly',
		'import sys\nwhile True: print("x" * 10000, file=sys.stderr)',
		/OutputLimit: The program printed more than/,
	],
	['has a result of 60 MB', '"x" * 60_000_000', /OutputLimit|MemoryError/],
	[
		'doubles a list 60 times, which needs no interpreter',
		`x = [1, 1]\n${'x = [x, x]\n'.repeat(60)}x`,
		/OutputLimit: The result has more than 500000 values\.$/,
	],
	[
		'passes a list that was doubled 60 times to a tool',
		`x = [1, 1]\n${'x = [x, x]\n'.repeat(60)}echo.echo(value=x)`,
		/OutputLimit: A call of the program has more than 100000 values\.$/,
	],
	['begins with a fence and many spaces', `\`\`\`\n${' '.repeat(500_000)}x`, /SyntaxError: invalid syntax/],
] as const)
	test.serial(
		`responds to other clients while a program ${what}, and ends the program with an error [SEC-D2]`,
		async t => {
			for (const result of await resultsUnderPing(t, command)) t.regex(result.slice(-300), expected);
		},
	);

for (const [what, command] of [
	['lists', `${'['.repeat(5000)}${']'.repeat(5000)}`],
	['attributes', `echo${'.a'.repeat(14_000)}()`],
	['subscripts', `x = [1]\nx${'[0]'.repeat(9000)}`],
	['minus signs', `x = ${'-'.repeat(5000)}1`],
] as const)
	test.serial(`rejects a program with ${what} that are nested too deeply [SEC-D22]`, async t => {
		const result = await run(await gateway().open(''), command);
		t.regex(result, /nested|recursion/);
	});

test.serial('responds to other clients while a program writes to file 2 byte by byte [SEC-D2]', async t => {
	const [hostile, other] = [await gateway().open(''), await gateway().open('')];
	let isOver = false;
	const id = ++ids;
	// Fewer bytes than the message limit, so only the cancellation ends the run.
	const command = 'import os\necho.log()\nfor _ in range(100_000): os.write(2, b"x")\nwhile True: pass';
	const running = hostile
		.request(id, 'tools/call', {name: 'run', arguments: {command}})
		.catch(() => {})
		.finally(() => {
			isOver = true;
		});
	for (let pings = 0; pings < MIN_PINGS; pings++) await ping(t, other);
	t.false(isOver);
	await hostile.post({method: 'notifications/cancelled', params: {requestId: id}});
	await running;
});
