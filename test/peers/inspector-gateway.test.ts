import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {toolsOf, type Version} from './eras.js';
import {fixtureCommand, fixtureUrl, startFixture} from './fixtures.js';
import {serviceUrl, startGateway} from './gateway.js';
import {type Inspection, inspect} from './inspector.js';
import {toolNames} from './json-client.js';
import {bridgeFile, temporaryFolder} from './peers.js';
import {newMarker} from './processes.js';

/** Commands of the Inspector, each with a part of its expected output. */
const methods = [
	[['tools/list'], 'test_simple_text'],
	[['tools/call', '--tool-name', 'test_simple_text'], 'This is a simple text response for testing.'],
	[['tools/call', '--tool-name', 'test_error_handling'], 'intentionally returns an error'],
	[['resources/list'], 'test://static-text'],
	[['resources/read', '--uri', 'test://static-text'], 'This is the content'],
	[['prompts/list'], 'test_simple_prompt'],
	[['prompts/get', '--prompt-name', 'test_simple_prompt'], 'This is a simple prompt'],
] as const;

type Way = 'http' | 'sse' | 'bridge --url';

const overHttp = (url: string): string[] => [url, '--transport', 'http'];

/** The target of the Inspector for the service `demo` of a gateway. */
async function targetOver(way: Way, folder: string, port: number): Promise<string[]> {
	const url = `http://127.0.0.1:${port}/mcp/demo`;
	if (way === 'http') return overHttp(url);
	if (way === 'sse') return [`${url}/sse`, '--transport', 'sse'];
	const file = join(folder, 'mcp.json');
	const bridge = {command: process.execPath, args: [bridgeFile, '--url', url]};
	await writeFile(file, JSON.stringify({mcpServers: {bridge}}));
	return ['--config', file, '--server', 'bridge'];
}

/** Starts a gateway in front of an HTTP server, and returns the URL of the server, too. */
async function startDemo(t: ExecutionContext, version: Version) {
	t.timeout(300_000);
	const folder = await temporaryFolder(t);
	const fixture = await startFixture(t, {mode: 'http', version});
	const direct = fixtureUrl('http', fixture.port);
	const gateway = await startGateway(t, {folder, services: {demo: {url: direct, transport: 'http'}}});
	return {folder, direct, gateway};
}

const withoutGateway = new Map<string, Promise<Inspection>>();

/** Runs the Inspector against the server directly. The output is cached, since it never changes. */
function inspectOnce(folder: string, direct: string, method: readonly string[]): Promise<Inspection> {
	const key = method.join(' ');
	const seen = withoutGateway.get(key) ?? inspect(folder, overHttp(direct), method);
	withoutGateway.set(key, seen);
	return seen;
}

for (const way of ['http', 'sse', 'bridge --url'] as const) {
	test.serial(`the Inspector over ${way} gets the same results as without the gateway`, async t => {
		const {folder, direct, gateway} = await startDemo(t, '2025-11-25');
		const target = await targetOver(way, folder, gateway.port);
		for (const [method, part] of methods) {
			const [expected, through] = await Promise.all([
				inspectOnce(folder, direct, method),
				inspect(folder, target, method),
			]);
			t.true(String(expected.stdout).includes(part), `${method.join(' ')} prints the expected part`);
			t.deepEqual(through, expected, method.join(' '));
		}
	});
}

const toolsIn = ({stdout}: Inspection): string[] =>
	toolNames({id: undefined, result: JSON.parse(String(stdout)) as Record<string, unknown>});

for (const way of ['http', 'sse', 'bridge --url'] as const) {
	test.serial(
		`the Inspector over ${way} lists and calls a tool of a 2024-11-05 server over stdio`,
		async t => {
			t.timeout(120_000);
			const folder = await temporaryFolder(t);
			const {args, ...command} = fixtureCommand({mode: 'stdio', version: '2024-11-05'});
			const demo = {...command, args: [...args, newMarker(t)]};
			const gateway = await startGateway(t, {folder, services: {demo}});
			const target = await targetOver(way, folder, gateway.port);
			t.deepEqual(toolsIn(await inspect(folder, target, ['tools/list'])), toolsOf('2024-11-05'));
			const called = await inspect(folder, target, methods[1][0]);
			t.is(called.code, 0);
			t.true(String(called.stdout).includes(methods[1][1]));
		},
	);
}

test.serial('the Inspector of the stateless era lists and calls a tool of a 2024-11-05 server', async t => {
	const {folder, gateway} = await startDemo(t, '2024-11-05');
	const target = [...overHttp(serviceUrl(gateway, 'demo')), '--protocol-era', 'modern'];
	t.deepEqual(toolsIn(await inspect(folder, target, ['tools/list'])), toolsOf('2024-11-05'));
	const called = await inspect(folder, target, methods[1][0]);
	t.is(called.code, 0);
	t.true(String(called.stdout).includes(methods[1][1]));
});

test.serial('the Inspector of the handshake era lists and calls a tool of a 2026-07-28 server', async t => {
	const {folder, gateway} = await startDemo(t, '2026-07-28');
	const target = overHttp(serviceUrl(gateway, 'demo'));
	t.deepEqual(toolsIn(await inspect(folder, target, ['tools/list'])), toolsOf('2026-07-28'));
	const called = await inspect(folder, target, methods[1][0]);
	t.is(called.code, 0);
	t.true(String(called.stdout).includes(methods[1][1]));
});
