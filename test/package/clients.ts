import process from 'node:process';
import {Client} from 'sdk-2025-11-25/client/index.js';
import {StdioClientTransport} from 'sdk-2025-11-25/client/stdio.js';
import {StreamableHTTPClientTransport} from 'sdk-2025-11-25/client/streamableHttp.js';
import {cleanEnv} from './execute.js';
import {memoryServer} from './peers.js';
import {expect} from './report.js';

/** An official SDK client. */
export type SdkClient = Client;

/** The command that starts the memory server, with a file that does not exist yet. */
export const memoryCommand = (
	file: string,
): {command: string; args: string[]; env: {[name: string]: string}} => ({
	command: process.execPath,
	args: [memoryServer],
	env: {MEMORY_FILE_PATH: file},
});

/** Connects an SDK client to a program on stdio. Close the client to end the program. */
export async function connectStdio(
	command: string,
	args: readonly string[],
	cwd: string,
): Promise<SdkClient> {
	const client = new Client({name: 'pack-check', version: '1'});
	await client.connect(
		new StdioClientTransport({command, args: [...args], cwd, env: {...cleanEnv}, stderr: 'ignore'}),
	);
	return client;
}

/** Connects an SDK client to a URL. */
export async function connectHttp(url: URL): Promise<SdkClient> {
	const client = new Client({name: 'pack-check', version: '1'});
	// The SDK's own types differ under exactOptionalPropertyTypes.
	await client.connect(new StreamableHTTPClientTransport(url) as never);
	return client;
}

/** The text of a tool's result. Rejects if the tool failed unless errors are expected. */
export async function callTool(
	client: SdkClient,
	name: string,
	args: {readonly [name: string]: unknown},
	isErrorExpected = false,
): Promise<string> {
	const result = await client.callTool({name, arguments: args});
	const [first] = result.content as ReadonlyArray<{readonly text?: string}>;
	const text = first?.text ?? '';
	expect((result.isError ?? false) === isErrorExpected, `The call of ${name} returned ${text}`);
	return text;
}

/** Writes an entity to the memory server and reads it back. */
export async function checkMemory(client: SdkClient): Promise<string> {
	const {tools} = await client.listTools();
	const entities = [{name: 'pack', entityType: 'check', observations: ['installed']}];
	await callTool(client, 'create_entities', {entities});
	const graph = JSON.parse(await callTool(client, 'read_graph', {}));
	expect(graph.entities[0]?.name === 'pack', `read_graph returned ${JSON.stringify(graph)}.`);
	return `${tools.length} tools, read_graph returns what create_entities wrote`;
}
