import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {newFolder, until} from '../../helpers/program.js';
import {errorIn, logged, shop, startHub, textIn} from './support.js';

const calls = [
	['a plain program', 'run', {command: 'late.search(query="x")'}],
	['Python', 'run', {command: '[late.search(query="x") for _ in (1,)][0]'}],
	['a batch', 'run', {command: 'late.search.batch([{"query": "x"}])[0]'}],
	['a tool call', 'late__search', {query: 'x'}],
] as const;

for (const [what, name, args] of calls)
	test(`${what} waits for an upstream that is still connecting after startupTimeout [A-G1]`, async t => {
		const file = join(await newFolder(t), 'open');
		const servers = {wix: shop('wix'), late: shop('late', `--until=${file}`)};
		const hub = await startHub(t, {expose: 'both', startupTimeout: '300ms', servers});
		await hub.toolNames();
		const response = hub.call(name, args);
		let hasResponse = false;
		void response.then(() => {
			hasResponse = true;
		});
		t.is(textIn(await hub.call('run', {command: '[n for n in (1, 2)]'})), '[1,2]');
		t.false(hasResponse);
		await writeFile(file, '');
		t.is(textIn(await response), '{"hits":["late: x"]}');
	});

test('a call waits for a connecting upstream until its timeout and is then logged as failed [A-G1] [A-D7]', async t => {
	const late = {...shop('late', '--until=/nowhere'), timeout: '1s'};
	const hub = await startHub(t, {expose: 'both', startupTimeout: '300ms', servers: {late}});
	const rejected = errorIn(await hub.call('late__search', {query: 'x'}));
	t.is(rejected.code, -31001);
	t.regex(rejected.message, /^Server 'late' is still connecting\./);
	t.is(
		textIn(await hub.call('run', {command: 'late.search(query="x")'})),
		"Error at line 1: ToolError: Server 'late' unavailable: it is still connecting. Try again in a moment.",
	);
	await until(() => logged(hub.running, 'proxy.tool.call').length === 2);
	for (const entry of logged(hub.running, 'proxy.tool.call'))
		t.like(entry, {server: 'late', tool: 'search', status: 'FAILED'});
});

test('the error of a run that times out waiting for a connecting upstream names the call [A-G1]', async t => {
	const servers = {late: shop('late', '--until=/nowhere')};
	const hub = await startHub(t, {startupTimeout: '300ms', runTimeout: '1s', servers});
	t.regex(
		textIn(await hub.call('run', {command: 'late.search(query="x")'})),
		/RunTimeout: The run timed out after 1\.0s while it waited for late\.search/,
	);
});

test('cancels a call that waits for a connecting upstream [A-G1]', async t => {
	const file = join(await newFolder(t), 'open');
	const servers = {late: shop('late', `--until=${file}`)};
	const hub = await startHub(t, {expose: 'tools', startupTimeout: '300ms', servers});
	await hub.toolNames();
	hub.running.send({id: 'c', method: 'tools/call', params: {name: 'late__slow', arguments: {}}});
	hub.running.send({method: 'notifications/cancelled', params: {requestId: 'c'}});
	await writeFile(file, '');
	t.is(textIn(await hub.call('late__search', {query: 'x'})), '{"hits":["late: x"]}');
	t.notRegex(hub.running.stderr, /late is slow/);
	t.false(hub.running.lines.some(line => line.includes('"id":"c"')));
});

test('accepts a startupTimeout over 10 s, during which lists wait [A-G1]', async t => {
	const file = join(await newFolder(t), 'open');
	const hub = await startHub(t, {
		expose: 'tools',
		startupTimeout: '5m',
		servers: {late: shop('late', `--until=${file}`)},
	});
	const names = hub.toolNames();
	await hub.ask('ping');
	await writeFile(file, '');
	t.true((await names).includes('late__search'));
});

for (const [what, name, args] of [
	['run', 'run', {command: 'broken.anything(a=1)'}],
	['a batch', 'run', {command: 'broken.anything.batch([{"a": 1}])'}],
	['Python', 'run', {command: 'for _ in (1,):\n  broken.anything(a=1)'}],
	['a tool call', 'broken__anything', {a: 1}],
] as const)
	test(`logs a call by ${what} to an unavailable upstream as failed [A-D7]`, async t => {
		const servers = {broken: {command: 'no-such-command-anywhere'}};
		const hub = await startHub(t, {expose: 'both', servers});
		await hub.call(name, args);
		await until(() => logged(hub.running, 'proxy.tool.call').length > 0);
		const [entry, ...others] = logged(hub.running, 'proxy.tool.call');
		t.like(entry, {server: 'broken', tool: 'anything', status: 'FAILED'});
		t.regex(String(entry?.errorMessage), /no-such-command-anywhere could not be started/);
		t.truthy(entry?.errorType);
		t.deepEqual(others, []);
	});
