import test, {type ExecutionContext} from 'ava';
import {toolsOf, type Version} from './eras.js';
import {fixtureCommand, fixtureUrl, type Mode, startFixture} from './fixtures.js';
import {gatewayStatus, type Service, serviceUrl, startGateway} from './gateway.js';
import {type JsonResponse, toolNames} from './json-client.js';
import type {Listening} from './listening.js';
import {McpHttp} from './mcp-http.js';
import {temporaryFolder} from './peers.js';
import {newMarker} from './processes.js';

const newest: Version = '2025-11-25';
const complaint = 'Received request before initialization was complete';

interface Demo {
	readonly version: Version;
	readonly mode?: Mode;
	readonly env?: Readonly<Record<string, string>>;
	/** Additional keys of the service's configuration. */
	readonly more?: Partial<Service>;
}

/** Returns the configuration of a service, after starting its server unless the gateway does that. */
async function serviceFor(
	t: ExecutionContext,
	{version, mode = 'stdio', env = {}, more}: Demo,
): Promise<Service> {
	if (mode === 'stdio') {
		const {args, ...command} = fixtureCommand({mode, version, env});
		return {...command, args: [...args, newMarker(t)], ...more};
	}

	const {port} = await startFixture(t, {mode, version, env});
	return {url: fixtureUrl(mode, port), transport: mode, ...more};
}

async function startDemos(t: ExecutionContext, demos: Readonly<Record<string, Demo>>): Promise<Listening> {
	t.timeout(150_000);
	const folder = await temporaryFolder(t);
	const services: Record<string, Service> = {};
	for (const [name, demo] of Object.entries(demos)) services[name] = await serviceFor(t, demo);
	return startGateway(t, {folder, services});
}

async function connect(gateway: Listening, service: string, version: string, capabilities = {}) {
	const client = new McpHttp(serviceUrl(gateway, service));
	return {client, negotiated: (await client.connect(version, capabilities)).result?.protocolVersion};
}

const call = (client: McpHttp, name: string, args = {}): Promise<JsonResponse> =>
	client.request('tools/call', {name, arguments: args});

const versions: ReadonlyArray<readonly [string, Version]> = [
	['US1.1', '2024-11-05'],
	['US1.2', '2025-03-26'],
	['US1.3', '2025-06-18'],
];

for (const [scenario, version] of versions) {
	for (const mode of ['stdio', 'http', 'sse', 'ws'] as const) {
		test.serial(
			`negotiates ${version} with an upstream over ${mode} [${scenario}] [SC-008] [US1.1] [US1.2] [US1.3]`,
			async t => {
				const gateway = await startDemos(t, {demo: {version, mode}});
				const {client, negotiated} = await connect(gateway, 'demo', newest);
				t.is(negotiated, newest);
				t.deepEqual(toolNames(await client.request('tools/list')), toolsOf(version));
				t.like((await call(client, 'test_simple_text')).result, {
					content: [{type: 'text', text: 'This is a simple text response for testing.'}],
				});
				t.is((await gatewayStatus(gateway)).services.demo?.version, version);
				await client.close();
			},
		);
	}
}

test.serial(
	'sends other requests only after initialize and notifications/initialized [US2.1] [SC-004]',
	async t => {
		const env = {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '300'};
		const gateway = await startDemos(t, {demo: {version: newest, env}});
		const {client} = await connect(gateway, 'demo', newest);
		t.deepEqual(toolNames(await client.request('tools/list')), toolsOf(newest));
		await client.close();
		t.false(gateway.text().includes(complaint));
	},
);

test.serial(
	'waits for an upstream that takes more than 30 seconds to initialize [US2.2] [SC-005]',
	async t => {
		const env = {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '30500'};
		const gateway = await startDemos(t, {demo: {version: newest, env}});
		const {client, negotiated} = await connect(gateway, 'demo', newest);
		t.is(negotiated, newest);
		t.deepEqual(toolNames(await client.request('tools/list')), toolsOf(newest));
		await client.close();
	},
);

for (const shared of [false, true]) {
	test.serial(
		`concurrent clients wait until ${shared ? 'their shared upstream' : 'their own upstream'} is initialized [US2.4]`,
		async t => {
			const env = {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '500'};
			const gateway = await startDemos(t, {demo: {version: '2025-06-18', env, more: {shared}}});
			const lists = await Promise.all(
				Array.from({length: 8}, async () => {
					const {client} = await connect(gateway, 'demo', newest);
					const list = toolNames(await client.request('tools/list'));
					await client.close();
					return list;
				}),
			);
			for (const list of lists) t.deepEqual(list, toolsOf('2025-06-18'));
			t.false(gateway.text().includes(complaint));
		},
	);
}

test.serial('five upstreams that exit on an early request all serve their tools [SC-007]', async t => {
	const env = {FIXTURE_STRICT: '1', FIXTURE_INIT_DELAY_MS: '200'};
	const demos: Record<string, Demo> = {
		one: {version: '2024-11-05', env},
		two: {version: '2025-03-26', mode: 'http', env},
		three: {version: '2025-06-18', mode: 'sse', env},
		four: {version: '2025-11-25', mode: 'ws', env},
		five: {version: '2025-06-18', env},
	};
	const gateway = await startDemos(t, demos);
	await Promise.all(
		Object.entries(demos).map(async ([name, {version}]) => {
			const {client} = await connect(gateway, name, newest);
			t.deepEqual(toolNames(await client.request('tools/list')), toolsOf(version), name);
			await client.close();
		}),
	);
});

test.serial('connects a 2025-03-26 client to a 2024-11-05 upstream [US3.1]', async t => {
	const gateway = await startDemos(t, {demo: {version: '2024-11-05'}});
	const {client, negotiated} = await connect(gateway, 'demo', '2025-03-26');
	t.is(negotiated, '2025-03-26');
	const {result} = await call(client, 'bridge_echo', {deep: {list: [1, 'two', null]}});
	const [content] = (result?.content ?? []) as Array<{text: string}>;
	t.like(JSON.parse(content?.text ?? ''), {arguments: {deep: {list: [1, 'two', null]}}});
	await client.close();
});

test.serial('converts content types that an old client does not support [US3.2]', async t => {
	const gateway = await startDemos(t, {demo: {version: '2025-06-18'}});
	const {client} = await connect(gateway, 'demo', '2024-11-05');
	t.like((await call(client, 'bridge_structured')).result, {
		content: [{type: 'text', text: '{"temperature":22.5}'}],
	});
	const link = (await call(client, 'bridge_resource_link')).result?.content;
	t.like(link, [{type: 'text'}]);
	t.true(JSON.stringify(link).includes('file:///p/main.rs'));
	t.like((await call(client, 'test_audio_content')).result, {
		content: [{type: 'text'}, {type: 'resource', resource: {mimeType: 'audio/wav'}}],
	});
	await client.close();
});

test.serial('responds on behalf of a client that lacks a feature [US3.3]', async t => {
	const gateway = await startDemos(t, {demo: {version: '2025-06-18'}});
	const {client} = await connect(gateway, 'demo', '2024-11-05');
	const {result} = await call(client, 'test_elicitation', {message: 'Who are you?'});
	t.is(result?.isError, true, 'the tool gets an error, since the client has no elicitation');
	t.deepEqual(
		toolNames(await client.request('tools/list')),
		toolsOf('2025-06-18'),
		'the session stays usable',
	);
	await client.close();
});

test.serial('logs a feature lost in translation, with the service and the feature name [US4.2]', async t => {
	const gateway = await startDemos(t, {weather: {version: '2025-06-18'}});
	const {client} = await connect(gateway, 'weather', '2024-11-05');
	await call(client, 'bridge_resource_link');
	await client.close();
	t.true(((await gatewayStatus(gateway)).services.weather?.lost['links to resources'] ?? 0) > 0);
	await gateway.stop();
	const warnings = gateway
		.text()
		.split('\n')
		.filter(line => line.includes('links to resources'));
	t.is(warnings.length, 1);
	t.like(JSON.parse(warnings[0] ?? ''), {level: 40, server: 'weather'});
});

test.serial('the status marks a superseded version as deprecated, with its outlook [US4.3]', async t => {
	const gateway = await startDemos(t, {old: {version: '2024-11-05'}, modern: {version: '2026-07-28'}});
	for (const name of ['old', 'modern']) {
		const {client} = await connect(gateway, name, newest);
		t.true(toolNames(await client.request('tools/list')).length > 0);
		await client.close();
	}

	const {services} = await gatewayStatus(gateway);
	t.is(services.old?.deprecated, true);
	t.regex(services.old?.outlook ?? '', /2024-11-05 is superseded/);
	t.is(services.modern?.deprecated, false);
	await gateway.stop();
	// The outlook is logged at level debug only, since it requires no action.
	t.notRegex(gateway.text(), /superseded/);
});
