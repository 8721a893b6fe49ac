import {existsSync} from 'node:fs';
import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {newFolder, processesWith, until} from '../../helpers/program.js';
import {errorIn, logged, namesIn, shop, startHub, textIn} from './support.js';

const two = {expose: 'tools', servers: {wix: shop('wix'), notion: shop('notion')}};

/** Matches the log entry of a successful connection. */
const connectedWith = (server: string): RegExp =>
	new RegExp(`"server":"${server}","type":"stdio","toolCount":12`);

test('lists the tools of all upstreams together, prefixed with the service name', async t => {
	const hub = await startHub(t, two);
	const names = await hub.toolNames();
	t.is(names.length, 24);
	t.true(names.includes('wix__list_sites') && names.includes('notion__search'));
	t.false(names.includes('run'));
});

test('routes a call to the upstream of the tool under the original name and returns the result', async t => {
	const hub = await startHub(t, two);
	t.like(await hub.call('wix__get_product', {product_id: 'abc', include_variants: true}), {
		result: {structuredContent: {product_id: 'abc', include_variants: true, shop: 'wix'}},
	});
	t.is(textIn(await hub.call('notion__search', {query: 'x'})), '{"hits":["notion: x"]}');
});

test('expose: run lists only run and rejects calls of other tools', async t => {
	const hub = await startHub(t, {...two, expose: 'run'});
	t.deepEqual(await hub.toolNames(), ['run']);
	t.is(errorIn(await hub.call('wix__search', {query: 'x'})).code, -32602);
	t.is(errorIn(await hub.ask('resources/list')).code, -32601);
});

test('expose: both lists run and all tools', async t => {
	const hub = await startHub(t, {...two, expose: 'both'});
	const names = await hub.toolNames();
	t.is(names.length, 25);
	t.is(names[0], 'run');
});

test('responds to initialize before any upstream is connected', async t => {
	const hub = await startHub(t, {expose: 'tools', servers: {wix: shop('wix', '--until=/nowhere')}});
	t.like(hub.welcome, {result: {capabilities: {tools: {listChanged: true}}}});
});

test('tools/list waits for all upstreams [HUB-1]', async t => {
	const file = join(await newFolder(t), 'open');
	const servers = {wix: shop('wix'), late: shop('late', `--until=${file}`)};
	const hub = await startHub(t, {expose: 'tools', servers});
	const names = hub.toolNames();
	await hub.running.says(connectedWith('wix'));
	t.is(hub.running.lines.length, 1);
	await writeFile(file, '');
	t.is((await names).length, 24);
});

test('adds the tools of an upstream that connects late and notifies the client', async t => {
	const file = join(await newFolder(t), 'open');
	const servers = {wix: shop('wix'), late: shop('late', `--until=${file}`)};
	const hub = await startHub(t, {expose: 'tools', startupTimeout: '300ms', servers});
	t.false((await hub.toolNames()).some(name => name.startsWith('late__')));
	await hub.running.says(connectedWith('wix'));
	await writeFile(file, '');
	await hub.running.says(connectedWith('late'));
	await hub.running.message(({method}) => method === 'notifications/tools/list_changed');
	t.is((await hub.toolNames()).length, 24);
	t.is(textIn(await hub.call('late__search', {query: 'x'})), '{"hits":["late: x"]}');
});

test('warns about an upstream that cannot be started and serves the others [HUB-2]', async t => {
	const servers = {wix: shop('wix'), broken: {command: 'no-such-command-anywhere'}};
	const hub = await startHub(t, {expose: 'tools', servers});
	t.is((await hub.toolNames()).length, 12);
	const error = errorIn(await hub.call('broken__anything'));
	t.is(error.code, -31001);
	t.regex(error.message, /^Server 'broken' unavailable: no-such-command-anywhere could not be started/);
	// stderr and stdout are not ordered, so the log entry can follow the response.
	await hub.running.says(/"event":"proxy\.init"/);
	t.like(
		logged(hub.running, 'proxy.connect').find(({status}) => status === 'FAILED'),
		{
			level: 40,
			server: 'broken',
			type: 'stdio',
			toolCount: 0,
			errorType: 'ERR_COMMAND_UNUSABLE',
		},
	);
	t.like(logged(hub.running, 'proxy.init').at(0), {serverCount: 2, connected: 1, failed: 1, toolCount: 12});
});

test('restarts a child that exits at its start, and adds its tools', async t => {
	const once = join(await newFolder(t), 'once');
	const servers = {wix: shop('wix'), shy: shop('shy', `--once=${once}`)};
	const hub = await startHub(t, {expose: 'tools', servers});
	await hub.toolNames();
	await hub.running.says(connectedWith('shy'));
	t.true(existsSync(once));
	t.is(textIn(await hub.call('shy__search', {query: 'x'})), '{"hits":["shy: x"]}');
});

test('a call fails with the reason when the child exits; calls until its restart are rejected', async t => {
	const file = join(await newFolder(t), 'open');
	await writeFile(file, '');
	const hub = await startHub(t, {expose: 'tools', servers: {wix: shop('wix', `--until=${file}`)}});
	await hub.toolNames();
	// The restarted child does not respond to initialize until the file exists.
	await rm(file);
	t.regex(errorIn(await hub.call('wix__die')).message, /wix exited with code 7/);
	const search = async () => hub.call('wix__search', {query: 'x'});
	const next = errorIn(await search());
	t.is(next.code, -31001);
	t.regex(next.message, /^Server 'wix' unavailable: wix exited with code 7/);
	await writeFile(file, '');
	await until(
		() => logged(hub.running, 'proxy.connect').filter(({status}) => status === 'SUCCESS').length === 2,
	);
	t.is(textIn(await search()), '{"hits":["wix: x"]}');
});

test('times out a call after the timeout of its service and cancels it at the upstream', async t => {
	const servers = {wix: {...shop('wix'), timeout: '3s'}, notion: shop('notion')};
	const hub = await startHub(t, {expose: 'tools', servers});
	const error = errorIn(await hub.call('wix__slow'));
	t.is(error.code, -31002);
	t.regex(error.message, /wix did not respond to tools\/call within 3 s\..* raise servers\.wix\.timeout /);
	await hub.running.says(/wix cancelled/);
});

test('cancels a call at its upstream when the client cancels it, and sends no response', async t => {
	const hub = await startHub(t, two);
	hub.running.send({id: 'c', method: 'tools/call', params: {name: 'wix__slow', arguments: {}}});
	await hub.running.says(/wix is slow/);
	hub.running.send({method: 'notifications/cancelled', params: {requestId: 'c'}});
	await hub.running.says(/wix cancelled/);
	t.deepEqual(await hub.ask('ping'), {jsonrpc: '2.0', id: 'ask-2', result: {}});
	t.false(hub.running.lines.some(line => line.includes('"id":"c"')));
});

test('notifies the client when the tool list of an upstream changes', async t => {
	const hub = await startHub(t, two);
	await hub.toolNames();
	await hub.call('notion__grow');
	await hub.running.message(({method}) => method === 'notifications/tools/list_changed');
	t.true((await hub.toolNames()).includes('notion__extra_1'));
});

test('rejects an unknown tool and suggests the nearest name', async t => {
	const hub = await startHub(t, two);
	t.deepEqual(errorIn(await hub.call('wix__serch')), {
		code: -32602,
		message: 'Unknown tool: wix__serch. Did you mean wix__search?',
	});
});

test('stops all children when the client closes stdin [HUB-3]', async t => {
	const hub = await startHub(t, marker => ({
		expose: 'tools',
		servers: {wix: shop('wix', marker), notion: shop('notion', marker)},
	}));
	await hub.toolNames();
	t.is(processesWith(hub.marker).length, 2);
	t.is(await hub.running.end(), 0);
	await until(() => processesWith(hub.marker).length === 0);
	t.like(logged(hub.running, 'proxy.shutdown').at(0), {status: 'SUCCESS', serverCount: 2});
});

test("forwards progress of a call under the client's token", async t => {
	const hub = await startHub(t, two);
	const params = {name: 'wix__steps', arguments: {}, _meta: {progressToken: 'mine'}};
	await hub.ask('tools/call', params);
	const notifications = hub.running.lines.filter(line => line.includes('notifications/progress'));
	t.deepEqual(
		notifications.map(line => JSON.parse(line).params),
		[1, 2].map(progress => ({progressToken: 'mine', progress, total: 2})),
	);
});

test('rejects a tool of a service that is not configured', async t => {
	const hub = await startHub(t, two);
	t.deepEqual(namesIn(await hub.ask('prompts/list'), 'prompts'), ['wix__greet', 'notion__greet']);
	t.is(errorIn(await hub.call('other__search')).code, -32602);
});
