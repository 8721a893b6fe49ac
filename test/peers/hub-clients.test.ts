import {cp, mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {realServers, startRealHub, until} from './hub.js';
import {inspect} from './inspector.js';
import {bridgeFile, peerUrl, temporaryFolder} from './peers.js';

/* The hub with real programs: the Inspector's command line, and OpenTelemetry's SDK with a collector. */

test.serial('the Inspector lists run and calls a real server through it', async t => {
	const folder = await temporaryFolder(t);
	const {everything} = realServers(folder);
	const config = join(folder, 'bridge.json');
	await writeFile(config, JSON.stringify({servers: {everything}}));
	const hub = {command: process.execPath, args: [bridgeFile, 'hub', '--config', config]};
	const file = join(folder, 'mcp.json');
	await writeFile(file, JSON.stringify({mcpServers: {hub}}));
	const target = ['--config', file, '--server', 'hub'];
	const {stdout: listed} = await inspect(folder, target, ['tools/list']);
	const {tools} = JSON.parse(String(listed)) as {
		readonly tools: ReadonlyArray<Readonly<Record<string, unknown>>>;
	};
	t.deepEqual(
		tools.map(({name}) => name),
		['run'],
	);
	const call = async (command: string): Promise<unknown> => {
		const {stdout} = await inspect(folder, target, [
			'tools/call',
			'--tool-name',
			'run',
			'--tool-arg',
			`command=${command}`,
		]);
		return JSON.parse(String(stdout));
	};
	t.like(await call('everything.get_sum(a=2, b=40)'), {
		content: [{text: 'The sum of 2 and 40 is 42.'}],
		isError: false,
	});
	t.like(await call('[n * n for n in range(4)]'), {content: [{text: '[0,1,4,9]'}], isError: false});
});

/** Installs bridge next to OpenTelemetry's SDK. */
async function installed(t: ExecutionContext): Promise<string> {
	const folder = await temporaryFolder(t);
	const root = new URL('../../../', import.meta.url);
	for (const name of ['package.json', 'dist/bin', 'dist/chunks', 'dist/lib'])
		await cp(fileURLToPath(new URL(name, root)), join(folder, name), {recursive: true});
	const {dependencies} = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as {
		readonly dependencies: Readonly<Record<string, string>>;
	};
	const packages = [
		...Object.keys(dependencies).map(name => [name, new URL(`node_modules/${name}`, root)] as const),
		['@opentelemetry/sdk-node', peerUrl('@opentelemetry/sdk-node')] as const,
	];
	for (const [name, from] of packages) {
		const link = join(folder, 'node_modules', name);
		await mkdir(dirname(link), {recursive: true});
		await symlink(fileURLToPath(from), link);
	}
	return join(folder, 'dist/bin/bridge.js');
}

type Span = {
	readonly name: string;
	readonly traceId: string;
	readonly parentSpanId?: string;
	readonly attributes: ReadonlyArray<{
		readonly key: string;
		readonly value: Readonly<Record<string, unknown>>;
	}>;
};
type Traces = {
	readonly resourceSpans: ReadonlyArray<{
		readonly scopeSpans: ReadonlyArray<{readonly spans: readonly Span[]}>;
	}>;
};

/** Starts a trace collector that keeps the received spans. */
async function startCollector(t: ExecutionContext) {
	const spans: Span[] = [];
	const paths = new Set<string | undefined>();
	const server = createServer(async (request, response) => {
		let text = '';
		for await (const chunk of request) text += String(chunk);
		paths.add(request.url);
		const {resourceSpans} = JSON.parse(text) as Traces;
		spans.push(...resourceSpans.flatMap(({scopeSpans}) => scopeSpans.flatMap(scope => scope.spans)));
		response.writeHead(200, {'content-type': 'application/json'}).end('{}');
	}).listen(0, '127.0.0.1');
	await new Promise(resolve => server.once('listening', resolve));
	t.teardown(() => server.close());
	return {spans, paths, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`};
}

const attributesOf = ({attributes}: Span): Readonly<Record<string, unknown>> =>
	Object.fromEntries(attributes.map(({key, value}) => [key, Object.values(value)[0]]));

test.serial(
	'exports spans to the collector of the standard OTEL variables, with the real SDK installed',
	async t => {
		const collector = await startCollector(t);
		const bridge = await installed(t);
		const hub = await startRealHub(t, folder => {
			const {everything = {}} = realServers(folder);
			const env = {OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json'};
			return {servers: {everything}, env, bridge};
		});
		const trace = '0af7651916cd43dd8448eb211c80319c';
		await hub.client.callTool({
			name: 'run',
			arguments: {command: 'everything.echo(message="traced")'},
			_meta: {traceparent: `00-${trace}-b7ad6b7169203331-01`},
		});
		await hub.close();
		await until(() => collector.spans.some(({name}) => name === 'proxy.shutdown'));
		t.deepEqual([...collector.paths], ['/v1/traces']);
		const named = (name: string): Span | undefined => collector.spans.find(span => span.name === name);
		for (const name of ['proxy.init', 'proxy.connect', 'proxy.tool.call']) t.truthy(named(name), name);
		const call = named('proxy.tool.call');
		t.like(call, {traceId: trace, parentSpanId: 'b7ad6b7169203331'});
		t.like(call && attributesOf(call), {server: 'everything', tool: 'echo'});
	},
);

test.serial('prints traces to stderr only, so that clients are not disturbed', async t => {
	const bridge = await installed(t);
	const hub = await startRealHub(t, folder => ({
		servers: realServers(folder),
		env: {OTEL_TRACES_EXPORTER: 'console'},
		bridge,
	}));
	const errors: string[] = [];
	hub.client.onerror = ({message}) => void errors.push(message);
	t.is((await hub.run('everything.echo(message="x")')).text, 'Echo: x');
	await until(() => /name: 'proxy\.connect'/.test(hub.stderr()));
	t.is((await hub.run('everything.echo(message="y")')).text, 'Echo: y');
	t.deepEqual(errors, []);
});
