import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type Message, opening} from '../../helpers/bridge.js';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, newFolder, start, until} from '../../helpers/program.js';
import {startUpstream} from '../../helpers/upstream.js';
import {startHub} from '../hub/support.js';

const [OLD, NEW] = ['2024-11-05', '2025-06-18'];
const task = {ttl: 60_000};

/** A server with the first version, and with the second one after a restart. */
const changing = async (t: ExecutionContext) =>
	program('speaker', OLD, NEW, `--starts=${join(await newFolder(t), 'starts')}`);

const statusOf = async (gateway: RunningGateway, service: string): Promise<Message> =>
	JSON.parse((await gateway.fetch('/status')).text).services[service];

const connections = (running: {readonly stderr: string}, server: string): Message[] =>
	logged(running, 'proxy.connect').filter(entry => entry.server === server);

/** The parameters that a speaker received, which it returns as text. */
const receivedIn = ({result}: Message): Message =>
	JSON.parse((result as {content: [{text: string}]}).content[0].text);

test('edge case 3: renegotiates with a restarted child and logs and shows its new version [A-D2] [A-D18] [FR-014]', async t => {
	const gateway = await startGateway(t, {servers: {s: await changing(t)}});
	const session = await gateway.open('s');
	t.like(await statusOf(gateway, 's'), {version: OLD, answered: OLD});
	t.like(await session.request(1, 'tools/call', {name: 'say', arguments: {die: true}}), {
		error: {code: -31004},
	});
	const call = await session.request(2, 'tools/call', {name: 'say', task});
	t.deepEqual(receivedIn(call), {name: 'say'}, 'requests are translated for the new version');
	t.like(await statusOf(gateway, 's'), {version: NEW, answered: NEW, restarts: 1});
	await until(() => connections(gateway.running, 's').length > 1);
	t.like(connections(gateway.running, 's'), [
		{version: OLD, clientVersion: opening.protocolVersion, status: 'SUCCESS'},
		{version: NEW, clientVersion: opening.protocolVersion, status: 'SUCCESS', era: 'handshake'},
	]);
	t.is(typeof connections(gateway.running, 's')[1]?.duration, 'number');
});

test('edge case 3: renegotiates a re-initialized HTTP session and logs and shows its version [A-D2] [A-D18] [FR-014]', async t => {
	const upstream = await startUpstream(t);
	upstream.version = NEW;
	const gateway = await startGateway(t, {servers: {s: {url: upstream.url}}});
	const session = await gateway.open('s');
	upstream.version = OLD;
	upstream.lose();
	await session.request(1, 'tools/call', {name: 'echo', task});
	t.like(await statusOf(gateway, 's'), {version: OLD, answered: OLD});
	upstream.version = '2025-09-09';
	upstream.lose();
	await session.request(2, 'tools/call', {name: 'echo', task});
	t.like(await statusOf(gateway, 's'), {version: '2025-11-25', answered: '2025-09-09'});
	await until(() => connections(gateway.running, 's').length > 2);
	t.deepEqual(
		connections(gateway.running, 's').map(({version}) => version),
		[NEW, OLD, '2025-11-25'],
	);
});

test('logs the version of a restarted shared child for its client and for the hub [A-D2]', async t => {
	const gateway = await startGateway(t, {servers: {s: {...(await changing(t)), shared: true}}});
	const session = await gateway.open('s');
	await gateway.open('');
	await until(() => connections(gateway.running, 's').length === 2);
	await session.request(1, 'tools/call', {name: 'say', arguments: {die: true}});
	await until(() => connections(gateway.running, 's').length === 4);
	const [first, second, ...renewed] = connections(gateway.running, 's');
	t.deepEqual([first?.version, second?.version], [OLD, OLD]);
	const counts = renewed.map(({toolCount}) => toolCount);
	t.true(counts.includes(null) && counts.includes(2), 'one connection is of the hub');
	for (const entry of renewed) {
		t.like(entry, {version: NEW, status: 'SUCCESS', type: 'stdio'});
		t.is(typeof entry.duration, 'number');
	}
});

test('bridge --url logs the version of a re-initialized session [A-D2]', async t => {
	const upstream = await startUpstream(t);
	upstream.version = NEW;
	const bridge = start(t, ['--url', upstream.url, '--log-level', 'info']);
	await bridge.shakeHands();
	upstream.version = OLD;
	upstream.lose();
	await bridge.request(1, 'tools/list', {});
	await until(() => logged(bridge, 'proxy.connect').length > 1);
	t.like(logged(bridge, 'proxy.connect'), [{version: NEW}, {version: OLD}]);
});

test('a hub logs one proxy.connect with all fields per connection, also after a reconnect [A-D2] [A-D6]', async t => {
	const upstream = await startUpstream(t);
	upstream.version = OLD;
	const broken = {command: 'no-such-command-anywhere'};
	const servers = {s: await changing(t), h: {url: upstream.url}, broken};
	const hub = await startHub(t, {expose: 'tools', servers});
	await hub.toolNames();
	await until(() => logged(hub.running, 'proxy.init').length > 0);
	const count = (): number => logged(hub.running, 'proxy.connect').length;
	t.is(count(), 3, 'the client of the hub is not counted');
	t.like(logged(hub.running, 'hub.client'), [{clientVersion: opening.protocolVersion}]);
	await hub.call('s__say', {die: true});
	await until(() => count() > 3);
	upstream.version = NEW;
	upstream.lose();
	await hub.call('h__echo');
	await until(() => count() > 4);
	const common = {era: 'handshake', clientVersion: '2025-11-25', status: 'SUCCESS'};
	t.like(connections(hub.running, 's'), [
		{...common, type: 'stdio', transport: 'stdio', version: OLD, toolCount: 2, serverName: 'speaker'},
		{...common, type: 'stdio', transport: 'stdio', version: NEW, toolCount: 2},
	]);
	t.like(connections(hub.running, 'h'), [
		{...common, type: 'http', transport: 'http', version: OLD, toolCount: 1, serverName: 'upstream'},
		{...common, type: 'http', transport: 'http', version: NEW, toolCount: 1},
	]);
	t.like(connections(hub.running, 'broken'), [
		{status: 'FAILED', type: 'stdio', transport: 'stdio', toolCount: 0},
	]);
	t.true(logged(hub.running, 'proxy.connect').every(({duration}) => typeof duration === 'number'));
});

test('a gateway logs one proxy.connect per connection, with the fields of the hub [A-D6]', async t => {
	const gateway = await startGateway(t, {servers: {s: program('speaker', NEW)}});
	await gateway.open('s');
	await gateway.open('');
	await until(() => logged(gateway.running, 'hub.client').length > 0);
	await until(() => connections(gateway.running, 's').length > 1);
	const [own, hubEntry] = connections(gateway.running, 's');
	t.deepEqual(new Set(Object.keys(own ?? {})), new Set(Object.keys(hubEntry ?? {})));
	t.is(logged(gateway.running, 'proxy.connect').length, 2);
});

test('translates versions over every transport [A-D18] [FR-011]', async t => {
	const stdio = program('speaker', OLD);
	const {base} = await startGateway(t, {servers: {old: {...stdio, clientVersion: OLD}}});
	const http = `${base.origin}/mcp/old`;
	const ws = http.replace('http:', 'ws:');
	const gateway = await startGateway(t, {
		servers: {stdio, http: {url: http}, sse: {url: `${http}/sse`, transport: 'sse'}, ws: {url: ws}},
	});
	for (const service of ['stdio', 'http', 'sse', 'ws']) {
		const session = await gateway.open(service);
		t.like(session.welcome, {result: {protocolVersion: opening.protocolVersion}}, service);
		t.deepEqual(receivedIn(await session.request(1, 'tools/call', {name: 'say', task})), {name: 'say'});
		t.like(await statusOf(gateway, service), {version: OLD, transport: service});
	}
	for (const url of [http, `${http}/sse`, ws]) {
		const bridge = start(t, ['--url', url]);
		t.like(await bridge.shakeHands(), {result: {protocolVersion: opening.protocolVersion}}, url);
		t.deepEqual(receivedIn(await bridge.request(1, 'tools/call', {name: 'say', task})), {name: 'say'});
		await bridge.end();
	}
});

test('shows the transport of an upstream without streamable HTTP as sse, in the status and in the log [A-D14]', async t => {
	const {base} = await startGateway(t, {servers: {old: program('speaker', OLD)}});
	const gateway = await startGateway(t, {servers: {guessed: {url: `${base.origin}/mcp/old/sse`}}});
	t.like(await statusOf(gateway, 'guessed'), {transport: 'http'});
	await gateway.open('guessed');
	t.like(await statusOf(gateway, 'guessed'), {state: 'ready', transport: 'sse'});
	t.regex(String((await statusOf(gateway, 'guessed')).outlook), /HTTP\+SSE/);
	await until(() => connections(gateway.running, 'guessed').length > 0);
	t.like(connections(gateway.running, 'guessed'), [{transport: 'sse', type: 'http'}]);
});

test('does not show 2025-11-25 as deprecated, and logs outlooks at debug level [U-P1-20]', async t => {
	const servers = {newest: program('speaker', '2025-11-25'), old: program('speaker', OLD)};
	const gateway = await startGateway(t, {servers}, {args: ['--log-level', 'debug']});
	for (const service of ['newest', 'old']) await gateway.open(service);
	t.like(await statusOf(gateway, 'newest'), {version: '2025-11-25', deprecated: false, outlook: null});
	t.like(await statusOf(gateway, 'old'), {version: OLD, deprecated: true});
	await until(() => logged(gateway.running, 'proxy.outlook').length > 0);
	t.like(logged(gateway.running, 'proxy.outlook'), [{level: 20, server: 'old', version: OLD}]);
	t.false(gateway.running.stderr.includes('newest: 2025-11-25 is superseded'));
});
