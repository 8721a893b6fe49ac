import {readdirSync} from 'node:fs';
import test from 'ava';
import {peakMiB, until, untilStill} from '../../helpers/program.js';
import {logged, type RunningHub, shop, startHub, textIn} from './support.js';

const servers = {wix: shop('wix')};
const threads = ({running}: RunningHub): number => readdirSync(`/proc/${running.pid}/task`).length;
const run = async (hub: RunningHub, command: string): Promise<string> =>
	textIn(await hub.call('run', {command}));

/** Starts a hub and waits until its next interpreter is ready, so that its thread count is stable. */
async function startWarm(t: Parameters<typeof startHub>[0], runTimeout = '2m'): Promise<RunningHub> {
	const hub = await startHub(t, {servers, runTimeout});
	await run(hub, '[1][:]');
	await untilStill(() => threads(hub));
	return hub;
}

for (const [what, command] of [
	['spins', 'while True: pass'],
	['catches all exceptions', 'while True:\n  try:\n    while True: pass\n  except BaseException: pass'],
	['waits for a tool', 'for _ in range(3): wix.slow()'],
] as const)
	test.serial(`cancelling a run ends the thread of a program that ${what} [J5]`, async t => {
		const hub = await startWarm(t);
		const before = threads(hub);
		hub.running.send({id: 'c', method: 'tools/call', params: {name: 'run', arguments: {command}}});
		await until(() => threads(hub) > before);
		hub.running.send({method: 'notifications/cancelled', params: {requestId: 'c'}});
		await until(() => threads(hub) <= before);
		t.is(await run(hub, 'sorted([2, 1])'), '[1,2]');
		t.false(hub.running.lines.some(line => line.includes('"id":"c"')));
	});

for (const [what, command, expected] of [
	[
		'spins',
		'while True: pass',
		/^Error: RunTimeout: The run timed out after 2\.0s\. Do less in one run, or raise runTimeout in the configuration\.$/,
	],
	[
		'waits for a tool',
		'wix.slow()',
		/^Error: RunTimeout: The run timed out after 2\.0s while it waited for wix\.slow\. Do less in one run, or raise runTimeout in the configuration\.$/,
	],
] as const)
	test.serial(
		`runTimeout ends a run that ${what}, names the key in the error, and does not affect the next run [A-G3] [J5]`,
		async t => {
			const hub = await startWarm(t, '2s');
			const before = threads(hub);
			t.regex(await run(hub, command), expected);
			if (command.includes('slow')) await hub.running.says(/wix cancelled/);
			await until(() => threads(hub) <= before);
			t.is(await run(hub, 'wix.search(query="next")'), '{"hits":["wix: next"]}');
		},
	);

test.serial('limits memory and output of programs without disturbing concurrent runs [J1]', async t => {
	const hub = await startWarm(t);
	const bombs = Array.from({length: 6}, () => run(hub, 'x = []\nwhile True: x.append("x" * 1_000_000)'));
	const floods = Array.from({length: 3}, () => run(hub, 'while True: print("flood" * 200)'));
	t.is(await run(hub, 'wix.search(query="beside")'), '{"hits":["wix: beside"]}');
	for (const text of await Promise.all(bombs))
		t.regex(text, /MemoryError: The program exceeds the memory limit/);
	for (const text of await Promise.all(floods))
		t.regex(text, /OutputLimit: The program printed more than 1048576 bytes/);
	t.is(await run(hub, 'sorted([2, 1])'), '[1,2]');
	t.true(peakMiB(hub.running.pid) < 1024, `${peakMiB(hub.running.pid)} MiB`);
});

test.serial('gives each of 20 concurrent programs its own result within bounded memory', async t => {
	const hub = await startWarm(t);
	const texts = Array.from({length: 20}, (_, at) =>
		run(hub, `all = [wix.echo(value=n).value for n in range(${at}, ${at + 3})]\nsum(all)`),
	);
	t.deepEqual(
		await Promise.all(texts),
		Array.from({length: 20}, (_, at) => String(3 * at + 3)),
	);
	t.true(peakMiB(hub.running.pid) < 768, `${peakMiB(hub.running.pid)} MiB`);
});

test.serial('logs calls that end with a run, with the cause', async t => {
	const hub = await startHub(t, {servers: {wix: {...shop('wix'), timeout: '3s'}, notion: shop('notion')}});
	await run(hub, 'wix.slow()');
	await run(hub, 'notion.die()');
	await until(() => logged(hub.running, 'proxy.tool.call').length === 2);
	t.deepEqual(
		logged(hub.running, 'proxy.tool.call').map(({tool, status, errorType}) => [tool, status, errorType]),
		[
			['slow', 'FAILED', 'ToolTimeout'],
			['die', 'FAILED', 'child_exited'],
		],
	);
});

test.serial(
	'notifies the client when a change of the configuration file changes the exposed tools',
	async t => {
		const hub = await startHub(t, {servers});
		t.deepEqual(await hub.toolNames(), ['run']);
		await hub.configure({servers, expose: 'both'});
		await hub.running.message(({method}) => method === 'notifications/tools/list_changed');
		t.is((await hub.toolNames()).length, 13);
	},
);

test.serial('reports its name, title and version in serverInfo', async t => {
	const {welcome} = await startHub(t, {servers});
	t.regex(
		JSON.stringify(welcome),
		/"serverInfo":\{"name":"bridge-hub","title":"bridge hub","version":"\d+\.\d+\.\d+/,
	);
});
