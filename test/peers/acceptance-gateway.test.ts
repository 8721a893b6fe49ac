import test, {type ExecutionContext} from 'ava';
import {type Reachable, startMembers} from './acceptance-members.js';
import {gatewayStatus, type ServiceStatus, serviceUrl, startGateway} from './gateway.js';
import {toolNames} from './json-client.js';
import {McpHttp} from './mcp-http.js';
import {temporaryFolder} from './peers.js';

/* Eleven real servers behind one gateway, over stdio, HTTP, SSE and WebSocket at once. */

const newest = '2025-11-25';
const listCount = 4;

interface Visit {
	readonly member: Reachable;
	readonly negotiated: unknown;
	/** The number of tools in each of several concurrent lists. */
	readonly lists: readonly number[];
	readonly status: ServiceStatus | undefined;
}

interface Visits {
	readonly all: readonly Visit[];
	readonly log: string;
}

const serviceName = ({name}: Reachable): string => name.replaceAll(/[ .]/g, '-');

async function visit(client: McpHttp): Promise<Pick<Visit, 'negotiated' | 'lists'>> {
	const {result} = await client.connect(newest);
	const responses = await Promise.all(Array.from({length: listCount}, () => client.request('tools/list')));
	return {negotiated: result?.protocolVersion, lists: responses.map(response => toolNames(response).length)};
}

async function visitAll(t: ExecutionContext): Promise<Visits> {
	const folder = await temporaryFolder(t);
	const members = await startMembers(t, folder);
	const services = Object.fromEntries(members.map(member => [serviceName(member), member.service]));
	const gateway = await startGateway(t, {folder, services});
	const clients = members.map(member => new McpHttp(serviceUrl(gateway, serviceName(member))));
	const visits = await Promise.all(clients.map(visit));
	const status = await gatewayStatus(gateway);
	await Promise.all(clients.map(client => client.close()));
	await gateway.stop();
	const all = members.flatMap((member, index) => {
		const seen = visits[index];
		return seen ? [{member, ...seen, status: status.services[serviceName(member)]}] : [];
	});
	return {all, log: gateway.text()};
}

let visits: Promise<Visits> | undefined;

/** The servers run once; the tests share the results. */
function elevenServers(t: ExecutionContext): Promise<Visits> {
	t.timeout(180_000);
	visits ??= visitAll(t);
	return visits;
}

test.serial('eleven real upstreams behind one gateway connect and serve their tools [SC-001]', async t => {
	const {all} = await elevenServers(t);
	t.is(all.length, 11);
	t.deepEqual(
		all.map(({member, status}) => [member.name, status?.state, status?.restarts, status?.lastError]),
		all.map(({member}) => [member.name, 'ready', 0, null]),
	);
	t.deepEqual(
		[...new Set(all.map(({status}) => status?.transport))].sort(),
		['http', 'sse', 'stdio', 'ws'],
		'over four transports at once',
	);
});

test.serial('lists all 80 tools of the eleven upstreams [SC-002]', async t => {
	const {all} = await elevenServers(t);
	t.deepEqual(
		all.map(({member, lists}) => [member.name, lists[0]]),
		all.map(({member}) => [member.name, member.tools]),
	);
	t.is(
		all.reduce((sum, {lists}) => sum + (lists[0] ?? 0), 0),
		80,
	);
	t.is(
		all.reduce((sum, {status}) => sum + (status?.tools ?? 0), 0),
		80,
		'the status has the same count',
	);
});

test.serial('negotiates four protocol versions with the upstreams at once [SC-003] [US1.4]', async t => {
	const {all} = await elevenServers(t);
	t.deepEqual(
		all.map(({member, status}) => [member.name, status?.version]),
		all.map(({member}) => [member.name, member.version]),
	);
	t.is(new Set(all.map(({status}) => status?.version)).size, 4);
	t.deepEqual([...new Set(all.map(({negotiated}) => negotiated))], [newest]);
});

test.serial('sends no request to an upstream before initialization is complete [SC-004]', async t => {
	t.false((await elevenServers(t)).log.includes('before initialization was complete'));
});

test.serial('responds to concurrent tools/list requests for all upstreams [SC-006] [US2.3]', async t => {
	for (const {member, lists} of (await elevenServers(t)).all) {
		t.deepEqual(
			lists,
			Array.from({length: listCount}, () => member.tools),
			member.name,
		);
	}
});

test.serial('the status shows the version and the transport of each upstream [US4.1]', async t => {
	for (const {member, status} of (await elevenServers(t)).all) {
		t.like(status, {version: member.version, transport: member.service.transport ?? 'stdio'}, member.name);
	}
});
