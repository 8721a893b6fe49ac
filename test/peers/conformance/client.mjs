// The client that the conformance suite starts. It runs a scenario with the real SDK v2. The suite appends
// the URL of its server. With CONFORMANCE_BRIDGE (the path of the program) it connects through a gateway.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import split2 from 'split2';
import {Client, StreamableHTTPClientTransport} from 'sdk-2026-07-28';

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? 'initialize';
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const isModern = version >= '2026-07-28';

/** Starts a gateway in front of a server. Returns its URL and a function that stops it. */
async function startBridge(bridge, upstream) {
	const folder = await mkdtemp(join(tmpdir(), 'bridge-conformance-client-'));
	const file = join(folder, 'gateway.json');
	await writeFile(file, JSON.stringify({listen: '127.0.0.1:0', servers: {up: {url: upstream, ...(isModern ? {targetVersion: version} : {})}}}));
	const child = spawn(process.execPath, [bridge, 'gateway', '--config', file], {
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const url = await new Promise((resolve, reject) => {
		for (const input of [child.stdout, child.stderr]) {
			input.pipe(split2()).on('data', line => {
				process.stderr.write(`${line}\n`);
				const base = /listens on (http:\S+:\d+)/.exec(line)?.[1];
				if (base !== undefined) resolve(`${base}/mcp/up`);
			});
		}

		child.once('exit', code => reject(new Error(`bridge exited with ${code}`)));
	});
	return {
		url,
		async end() {
			const ended = once(child, 'exit');
			child.kill('SIGTERM');
			await ended;
			await rm(folder, {recursive: true, force: true});
		},
	};
}

/** Returns a value that is valid for a schema. */
function sample(schema) {
	const simple = {boolean: true, integer: 1, number: 1, object: {}, array: []};
	return schema.default ?? schema.const ?? schema.enum?.[0] ?? simple[schema.type] ?? 'x';
}

const samples = schema =>
	Object.fromEntries(Object.entries(schema?.properties ?? {}).map(([name, member]) => [name, sample(member)]));

function newClient() {
	const capabilities = {elicitation: {form: {applyDefaults: true}}, sampling: {}, roots: {}};
	const older = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'].filter(other => other !== version);
	const client = new Client(
		{name: 'bridge-conformance', version: '1.0.0'},
		isModern
			? {capabilities, versionNegotiation: {mode: {pin: version}}}
			: {
					capabilities,
					versionNegotiation: {mode: 'legacy'},
					supportedProtocolVersions: [version, ...older],
				},
	);
	client.setRequestHandler('elicitation/create', ({params}) => ({
		action: 'accept',
		// The SDK fills in the defaults.
		content: scenario.includes('defaults') ? {} : samples(params.requestedSchema),
	}));
	client.setRequestHandler('sampling/createMessage', () => ({
		role: 'assistant',
		model: 'none',
		content: {type: 'text', text: 'ok'},
	}));
	client.setRequestHandler('roots/list', () => ({roots: []}));
	return client;
}

/** Ignores errors: a scenario may expect one, and the suite judges the messages sent. */
async function attempt(work) {
	await work.catch(error => process.stderr.write(`${error.message}\n`));
}

async function play(client) {
	const {tools} = await client.listTools();
	if (['initialize', 'json-schema-ref-no-deref'].includes(scenario)) return;
	if (scenario === 'tools_call') {
		await client.callTool({name: 'add_numbers', arguments: {a: 5, b: 3}});
		return;
	}

	const calls = tools.map(({name, inputSchema}) => ({name, arguments: samples(inputSchema)}));
	for (const call of context.toolCalls ?? calls) {
		await attempt(client.callTool({name: call.name, arguments: call.arguments}));
	}

	if (scenario === 'http-standard-headers') {
		for (const {uri} of (await client.listResources()).resources) await attempt(client.readResource({uri}));
		for (const {name} of (await client.listPrompts()).prompts) {
			await attempt(client.getPrompt({name, arguments: {}}));
		}
	}
}

const url = process.argv.at(-1);
const bridge = process.env.CONFORMANCE_BRIDGE && (await startBridge(process.env.CONFORMANCE_BRIDGE, url));
try {
	const client = newClient();
	await client.connect(new StreamableHTTPClientTransport(new URL(bridge ? bridge.url : url)));
	await play(client);
	await client.close();
} catch (error) {
	process.stderr.write(`${error.stack ?? error}\n`);
	process.exitCode = 1;
} finally {
	await bridge?.end?.();
}

// The suite waits for this process, and open streams would delay its exit.
setTimeout(() => process.exit(), 500).unref();
