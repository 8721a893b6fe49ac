import {fileURLToPath} from 'node:url';
import test from 'ava';
import {isTracingRequested} from '../../../bin/shared/telemetry.js';
import type {Message, Running} from '../../helpers/bridge.js';
import {jsonLines} from '../../helpers/ndjson.js';
import {until} from '../../helpers/program.js';
import {logged, shop, startHub} from './support.js';

const recorder = fileURLToPath(new URL('../../../fixtures/telemetry/recorder.js', import.meta.url));
const traced = {env: {...process.env, NODE_OPTIONS: `--import ${recorder}`}};
const both = {expose: 'both', servers: {wix: shop('wix')}};

const spans = ({stderr}: Running): Message[] =>
	jsonLines<Message>(stderr).filter(({span}) => span !== undefined);

const parent = {traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331'};
const _meta = {traceparent: `00-${parent.traceId}-${parent.spanId}-01`};

for (const [what, params] of [
	['a tool', {name: 'wix__echo', arguments: {value: 1}, _meta}],
	['run', {name: 'run', arguments: {command: 'wix.echo(value=1)'}, _meta}],
] as const)
	test(`records a call of ${what} as a span in the client's trace and passes its traceparent to the upstream`, async t => {
		const hub = await startHub(t, both, traced);
		const {result} = await hub.ask('tools/call', params);
		await until(() => spans(hub.running).some(({span}) => span === 'proxy.tool.call'));
		const call = spans(hub.running).find(({span}) => span === 'proxy.tool.call');
		t.like(call, {traceId: parent.traceId, parent: parent.spanId, facts: {server: 'wix', tool: 'echo'}});
		t.true(JSON.stringify(result).includes(`00-${parent.traceId}-${call?.spanId}-01`));
	});

test("passes the client's traceparent to upstreams when tracing is off", async t => {
	const hub = await startHub(t, both);
	for (const params of [
		{name: 'wix__echo', arguments: {}, _meta},
		{name: 'run', arguments: {command: 'wix.echo()'}, _meta},
	])
		t.true(JSON.stringify((await hub.ask('tools/call', params)).result).includes(_meta.traceparent));
});

test('records failed connections and calls as spans with an error', async t => {
	const hub = await startHub(
		t,
		{...both, servers: {...both.servers, broken: {command: 'no-such-command'}}},
		traced,
	);
	await hub.call('wix__fail');
	await until(() => spans(hub.running).filter(({facts}) => 'error.type' in (facts as Message)).length >= 2);
	const failed = spans(hub.running).filter(({facts}) => 'error.type' in (facts as Message));
	t.like(
		failed.find(({span}) => span === 'proxy.tool.call'),
		{facts: {'error.type': 'ToolError', status: {code: 2, message: 'There is no such thing.'}}},
	);
	t.like(
		failed.find(({span}) => span === 'proxy.connect'),
		{facts: {server: 'broken', 'error.type': 'ERR_COMMAND_UNUSABLE'}},
	);
});

test('warns how to install an exporter when tracing is requested without one', async t => {
	const env = {...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9'};
	const hub = await startHub(t, both, {env});
	await hub.toolNames();
	await until(() => logged(hub.running, 'telemetry.failed').length > 0);
	t.regex(String(logged(hub.running, 'telemetry.failed')[0]?.msg), /npm install @opentelemetry\/sdk-node/);
});

test('enables tracing by the standard variables only', t => {
	const endpoint = {OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318'};
	t.false(isTracingRequested({}));
	t.false(isTracingRequested({OTEL_SERVICE_NAME: 'bridge'}));
	t.true(isTracingRequested(endpoint));
	t.true(isTracingRequested({OTEL_TRACES_EXPORTER: 'console'}));
	t.false(isTracingRequested({...endpoint, OTEL_TRACES_EXPORTER: 'none'}));
	t.false(isTracingRequested({...endpoint, OTEL_SDK_DISABLED: 'true'}));
});
