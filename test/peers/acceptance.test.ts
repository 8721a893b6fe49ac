import test, {type ExecutionContext} from 'ava';
import {type Outcome, visitAll} from './acceptance-set.js';
import {handshakeServer, serverOf, toolsOf, type Version} from './eras.js';
import {initialize, initialized, JsonClient, listTools, toolNames} from './json-client.js';
import {throughBridge} from './peers.js';
import {newMarker} from './processes.js';

const newest: Version = '2025-11-25';
const complaint = 'Received request before initialization was complete';
let outcomes: Promise<Outcome[]> | undefined;

/** The servers run once; the tests share the results. */
function realServers(t: ExecutionContext): Promise<Outcome[]> {
	t.timeout(120_000);
	outcomes ??= visitAll(t, newest);
	return outcomes;
}

/** Starts a fixture behind bridge. `env` configures its behavior. */
function startFixture(t: ExecutionContext, env: Readonly<Record<string, string>>): JsonClient {
	t.timeout(120_000);
	return new JsonClient(t, throughBridge(handshakeServer(newMarker(t), env)));
}

test.serial('eight real upstreams started at once serve their tools and exit cleanly [SC-001]', async t => {
	const all = await realServers(t);
	t.is(all.length, 8);
	for (const {member, ending} of all) {
		t.deepEqual([ending.code, ending.signal, ending.noise], [0, null, []], member.name);
	}
});

test.serial('lists all 53 tools of the eight upstreams [SC-002]', async t => {
	const all = await realServers(t);
	t.deepEqual(
		all.map(({member, lists}) => [member.name, lists[0]]),
		all.map(({member}) => [member.name, member.tools]),
	);
	t.is(
		all.reduce((sum, {lists}) => sum + (lists[0] ?? 0), 0),
		53,
	);
});

test.serial('clients get their own version from upstreams of four versions [SC-003]', async t => {
	const all = await realServers(t);
	t.deepEqual(
		all.map(({member, direct}) => [member.name, direct]),
		all.map(({member}) => [member.name, member.version]),
	);
	t.is(new Set(all.map(({direct}) => direct)).size, 4);
	t.deepEqual([...new Set(all.map(({negotiated}) => negotiated))], [newest]);
});

test.serial('queues requests until initialization is complete: all sent in one burst [SC-004]', async t => {
	const client = startFixture(t, {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '300'});
	client.send(initialize(1, newest), initialized, listTools(2));
	t.deepEqual(toolNames(await client.response(2)), toolsOf(newest));
	const {code, stderr} = await client.close();
	t.false(stderr.includes(complaint));
	t.is(code, 0);
});

test.serial(
	'queues requests until initialization is complete: tools/list sent before initialized [SC-004]',
	async t => {
		const client = startFixture(t, {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '300'});
		client.send(initialize(1, newest), listTools(2));
		t.is((await client.response(1)).result?.protocolVersion, newest);
		client.send(initialized);
		t.deepEqual(toolNames(await client.response(2)), toolsOf(newest));
		const {code, stderr} = await client.close();
		t.false(stderr.includes(complaint));
		t.is(code, 0);
	},
);

test.serial(
	'queues requests until initialization is complete: tools/list sent before initialize [SC-004]',
	async t => {
		const client = startFixture(t, {FIXTURE_STRICT: '1'});
		client.send(listTools(1), initialize(2, newest), initialized);
		t.is((await client.response(2)).result?.protocolVersion, newest);
		t.deepEqual(toolNames(await client.response(1)), toolsOf(newest));
		const {code, stderr} = await client.close();
		t.false(stderr.includes(complaint));
		t.is(code, 0);
	},
);

test.serial('waits for an upstream that takes 30 seconds to initialize [SC-005]', async t => {
	const client = startFixture(t, {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '30000'});
	client.send(initialize(1, newest), initialized, listTools(2));
	t.is((await client.response(1)).result?.protocolVersion, newest);
	t.deepEqual(toolNames(await client.response(2)), toolsOf(newest));
	t.is((await client.close()).code, 0);
});

test.serial('responds to each tools/list request with all tools [SC-006]', async t => {
	for (const {member, lists} of await realServers(t)) {
		t.deepEqual(lists, [member.tools, member.tools, member.tools, member.tools], member.name);
	}
});

test.serial('five upstreams that exit on an early request all serve their tools [SC-007]', async t => {
	const servers: readonly Version[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2025-06-18'];
	const clients = servers.map(version =>
		startFixture(t, {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '200', FIXTURE_VERSIONS: version}),
	);
	for (const client of clients) {
		client.send(initialize(1, newest), initialized, listTools(2), listTools(3));
	}

	for (const [index, client] of clients.entries()) {
		t.deepEqual(toolNames(await client.response(3)), toolsOf(servers[index] ?? newest));
		t.is((await client.close()).code, 0);
	}
});

for (const client of ['2025-11-25', '2025-06-18'] as const) {
	for (const server of ['2024-11-05', '2025-03-26', '2025-06-18'] as const) {
		test.serial(`a ${client} client calls a tool of a ${server} upstream [SC-008]`, async t => {
			t.timeout(60_000);
			const peer = new JsonClient(t, throughBridge(serverOf(server, newMarker(t))));
			peer.send(initialize(1, client));
			t.is((await peer.response(1)).result?.protocolVersion, client);
			peer.send(initialized, listTools(2));
			t.deepEqual(toolNames(await peer.response(2)), toolsOf(server));
			peer.send({id: 3, method: 'tools/call', params: {name: 'test_simple_text', arguments: {}}});
			const content = [{type: 'text', text: 'This is a simple text response for testing.'}];
			t.deepEqual((await peer.response(3)).result?.content, content);
			t.is((await peer.close()).code, 0);
		});
	}
}

test.serial(
	'uses the newest handshake version with an upstream that accepts any version [SC-008]',
	async t => {
		const client = startFixture(t, {FIXTURE_ECHO: '1'});
		// bridge responds to an unknown version with the newest one of the handshake era.
		client.send(initialize(1, '1999-01-01'), initialized, listTools(2));
		t.is((await client.response(1)).result?.protocolVersion, newest);
		t.deepEqual(toolNames(await client.response(2)), toolsOf(newest));
		t.is((await client.close()).code, 0);
	},
);

for (const server of ['2025-06-18', '2025-03-26', '2024-11-05'] as const) {
	test.serial(`falls back to ${server} when the upstream rejects all other versions [SC-008]`, async t => {
		const client = startFixture(t, {FIXTURE_REFUSE: '1', FIXTURE_VERSIONS: server});
		client.send(initialize(1, newest), initialized, listTools(2));
		t.is((await client.response(1)).result?.protocolVersion, newest);
		t.deepEqual(toolNames(await client.response(2)), toolsOf(server));
		t.is((await client.close()).code, 0);
	});
}
