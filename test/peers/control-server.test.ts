import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {linesIn, type Raw, sorted, startRaw} from '../e2e/raw/support.js';
import {dial, exchange, readBytes, startEcho} from '../e2e/raw/tcp.js';
import {freePort} from '../helpers/free-port.js';
import {isModern, type Release, releases} from './eras.js';
import {type Inspection, inspect} from './inspector.js';
import {toolNames} from './json-client.js';
import {temporaryFolder} from './peers.js';

/* The control server of `bridge raw`, used by real clients while traffic flows. */

interface Client {
	connect(transport: object): Promise<void>;
	close(): Promise<void>;
	ping(): Promise<unknown>;
	listTools(): Promise<{readonly tools: ReadonlyArray<{readonly name: string}>}>;
	callTool(call: {
		name: string;
		arguments: object;
	}): Promise<{readonly content: ReadonlyArray<{readonly text: string}>}>;
	getServerVersion(): unknown;
}

interface Modules {
	readonly Client: new (info: object, options: object) => Client;
	readonly StreamableHTTPClientTransport: new (url: URL) => object;
}

function isComplete(modules: object): modules is Modules {
	const names = ['Client', 'StreamableHTTPClientTransport'];
	return names.every(name => typeof Reflect.get(modules, name) === 'function');
}

/** Connects a client of this SDK release to the control server. */
async function connectClient(
	t: ExecutionContext,
	{sdk, version, folder}: Release,
	endpoint: string,
): Promise<Client> {
	const isV2 = isModern(version);
	const files = isV2 ? ['index.mjs'] : ['client/index.js', 'client/streamableHttp.js'];
	const parts = await Promise.all(files.map(file => import(new URL(file, folder).href)));
	const modules: object = Object.assign({}, ...parts);
	if (!isComplete(modules)) throw new TypeError(`SDK ${sdk} has no client for HTTP`);
	const options = isV2 ? {versionNegotiation: {mode: 'auto'}} : {};
	const client = new modules.Client({name: 'raw-tests', version: '1'}, {capabilities: {}, ...options});
	t.teardown(() => client.close());
	await client.connect(new modules.StreamableHTTPClientTransport(new URL(endpoint)));
	return client;
}

/** Starts bridge with traffic that lasts until the end of the test, and counts its round trips. */
async function withTraffic(t: ExecutionContext): Promise<{raw: Raw; echo: number; rounds: () => number}> {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--mcp-port', '0', '--flush-millis', '50', `0:127.0.0.1:${echo.port}`]);
	const socket = await dial(raw.port);
	let rounds = 0;
	const talk = async (): Promise<void> => {
		while (!socket.destroyed) {
			socket.write('0123456789'.repeat(100));
			await readBytes(socket, 1000);
			rounds += 1;
		}
	};
	talk().catch(() => {});
	t.teardown(() => socket.destroy());
	return {raw, echo: echo.port, rounds: () => rounds};
}

const FIVE = ['add-port-rule', 'remove-port-rule', 'shutdown', 'start-logging', 'stop-logging'];

// The SDK of 2024-11-05 has no streamable HTTP.
for (const release of releases.slice(1))
	test.serial(
		`a client of SDK ${release.sdk} controls bridge raw with all five tools under traffic`,
		async t => {
			const {raw, echo, rounds} = await withTraffic(t);
			const client = await connectClient(t, release, raw.endpoint);
			t.like(client.getServerVersion(), {name: 'rawprox'});
			// The stateless era has no ping.
			if (!isModern(release.version)) await client.ping();
			t.deepEqual(sorted((await client.listTools()).tools.map(({name}) => name)), FIVE);
			const call = async (name: string, args: object = {}): Promise<string> =>
				(await client.callTool({name, arguments: args})).content[0]?.text ?? '';
			const local_port = await freePort();
			const logs = join(await temporaryFolder(t), 'logs');
			await call('start-logging', {directory: logs});
			const added = await call('add-port-rule', {local_port, target_host: '127.0.0.1', target_port: echo});
			t.is(added, `Port rule added: ${local_port} -> 127.0.0.1:${echo}`);
			t.is(String((await exchange(local_port, 'through the new rule')).reply), 'through the new rule');
			const again = call('add-port-rule', {local_port, target_host: '127.0.0.1', target_port: echo});
			await t.throwsAsync(again, {message: new RegExp(`Port ${local_port} already in use`)});
			await call('remove-port-rule', {local_port});
			await t.throwsAsync(dial(local_port), {code: 'ECONNREFUSED'});
			await call('stop-logging', {directory: logs});
			t.is(linesIn(logs).filter(({data}) => data === 'through the new rule').length, 2);
			t.true(rounds() > 0);
			t.true((await call('shutdown')).length > 0);
			t.is((await raw.running.exited).code, 0);
		},
	);

const textIn = ({stdout}: Inspection): string => String(stdout);

for (const era of [[], ['--protocol-era', 'modern']] as const)
	test.serial(`the Inspector ${era.join(' ')} lists and calls the tools under traffic`, async t => {
		t.timeout(120_000);
		const {raw, echo, rounds} = await withTraffic(t);
		const folder = await temporaryFolder(t);
		const target = [raw.endpoint, '--transport', 'http', ...era];
		const listed = await inspect(folder, target, ['tools/list']);
		t.is(listed.code, 0);
		const result = JSON.parse(textIn(listed)) as Record<string, unknown>;
		t.deepEqual(sorted(toolNames({id: undefined, result})), FIVE);
		const local_port = await freePort();
		const add = ['tools/call', '--tool-name', 'add-port-rule'];
		for (const arg of [`local_port=${local_port}`, 'target_host=127.0.0.1', `target_port=${echo}`])
			add.push('--tool-arg', arg);
		const added = await inspect(folder, target, add);
		t.is(added.code, 0, textIn(added));
		t.true(textIn(added).includes(`Port rule added: ${local_port}`));
		t.is(String((await exchange(local_port, 'x')).reply), 'x');
		const before = rounds();
		t.not((await inspect(folder, target, add)).code, 0);
		t.true(rounds() > before);
		t.is((await inspect(folder, target, ['tools/call', '--tool-name', 'shutdown'])).code, 0);
		t.is((await raw.running.exited).code, 0);
	});
