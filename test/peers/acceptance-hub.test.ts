import test, {type ExecutionContext} from 'ava';
import {type Reachable, startMembers} from './acceptance-members.js';
import {gatewayStatus, serviceUrl, startGateway} from './gateway.js';
import {realServers, startRealHub} from './hub.js';
import {toolNames} from './json-client.js';
import {McpHttp} from './mcp-http.js';
import {temporaryFolder} from './peers.js';

/*
 * Eleven real servers merged into one, over stdio, HTTP, SSE and WebSocket at once: spec 004, user story
 * 1.
 */

const serviceName = ({name}: Reachable): string => name.replaceAll(/[ .]/g, '-');

async function servicesIn(t: ExecutionContext, folder: string) {
	const members = await startMembers(t, folder);
	return {
		members,
		services: Object.fromEntries(members.map(member => [serviceName(member), member.service])),
	};
}

test.serial('/mcp merges eleven upstreams of four versions into one list of 80 tools [US1]', async t => {
	t.timeout(180_000);
	const folder = await temporaryFolder(t);
	const {members, services} = await servicesIn(t, folder);
	const gateway = await startGateway(t, {folder, services, settings: {expose: 'both'}});
	const client = new McpHttp(serviceUrl(gateway, '').replace(/\/$/, ''));
	await client.connect('2025-11-25');
	let names = toolNames(await client.request('tools/list'));
	// On a busy machine, slow upstreams join after the hub's wait for them.
	while (names.length < 81) names = toolNames(await client.request('tools/list'));
	t.is(names.length, 81, '80 tools, and run');
	for (const member of members)
		t.is(names.filter(name => name.startsWith(`${serviceName(member)}__`)).length, member.tools, member.name);
	const status = await gatewayStatus(gateway);
	t.deepEqual(
		members.map(member => [member.name, status.services[serviceName(member)]?.version]),
		members.map(({name, version}) => [name, version]),
	);
	const sum = {name: 'everything-2025-7-1__add', arguments: {a: 2, b: 40}};
	t.regex(JSON.stringify((await client.request('tools/call', sum)).result), /42/);
	const command = 'memory_2026_8_31.read_graph().entities';
	t.like((await client.request('tools/call', {name: 'run', arguments: {command}})).result, {isError: false});
	await client.close();
	await gateway.stop();
});

test.serial('the hub on stdio exposes all 80 tools through run [US1]', async t => {
	t.timeout(180_000);
	const hub = await startRealHub(t, async folder => ({
		expose: 'run',
		servers: (await servicesIn(t, folder)).services,
	}));
	let packs = await hub.run('proxy.list_servers()');
	while (/"connected":false/.test(packs.text)) packs = await hub.run('proxy.list_servers()');
	t.deepEqual(await hub.tools(), ['run']);
	const {text} = await hub.run('len(proxy.list_tools())');
	t.true(Number(text) >= 80, text);
	t.regex((await hub.run('everything_2025_5_12.add(a=2, b=40)')).text, /42/);
	t.regex((await hub.run('everything_0_6_2.add(a=2, b=40)')).text, /42/);
});

test.serial('returns the right result to each of 20 concurrent runs', async t => {
	const hub = await startRealHub(t, folder => ({servers: realServers(folder)}));
	const runs = Array.from({length: 20}, (_, at) =>
		hub.run(
			`words = [everything.echo(message=str(n)) for n in range(${at}, ${at + 2})]\nwords[0] + words[1]`,
		),
	);
	const texts = (await Promise.all(runs)).map(({text}) => text);
	t.deepEqual(
		texts,
		Array.from({length: 20}, (_, at) => `Echo: ${at}Echo: ${at + 1}`),
	);
});
