// The obvious proxy: a Client and a Server of the official SDK back to back.
//   node sdk-proxy.js FOLDER -- SERVER ARGS…      FOLDER is the one whose node_modules holds the SDK
// The SDK is a peer of the bench and not a dependency of the project, so it is found at run time and only the few
// members used here are described.

import {createRequire} from 'node:module';
import {join} from 'node:path';

type Params = Record<string, unknown> | undefined;
interface Transport {
	close(): Promise<void>;
}
interface SdkClient {
	connect(transport: Transport): Promise<void>;
	close(): Promise<void>;
	getServerCapabilities(): unknown;
	listTools(params: Params): Promise<unknown>;
	callTool(params: Params): Promise<unknown>;
}
interface SdkServer {
	connect(transport: Transport): Promise<void>;
	setRequestHandler(schema: unknown, handler: (request: {params: Params}) => Promise<unknown>): void;
}
interface Sdk {
	Client: new (info: unknown) => SdkClient;
	Server: new (info: unknown, options: unknown) => SdkServer;
	StdioClientTransport: new (options: {command: string; args: string[]; stderr: string}) => Transport;
	StdioServerTransport: new () => Transport;
	ListToolsRequestSchema: unknown;
	CallToolRequestSchema: unknown;
}

const [folder = '.', ...others] = process.argv.slice(2);
const [command = '', ...args] = others.slice(others.indexOf('--') + 1);
const load = createRequire(join(folder, 'package.json'));
const parts = ['client/index', 'client/stdio', 'server/index', 'server/stdio', 'types'];
const loaded: unknown[] = parts.map(part => load(`@modelcontextprotocol/sdk/${part}.js`));
const sdk = Object.assign({}, ...loaded) as Sdk;

const info = {name: 'sdk-proxy', version: '1.0.0'};
const client = new sdk.Client(info);
await client.connect(new sdk.StdioClientTransport({command, args, stderr: 'ignore'}));
const server = new sdk.Server(info, {capabilities: client.getServerCapabilities()});
server.setRequestHandler(sdk.ListToolsRequestSchema, request => client.listTools(request.params));
server.setRequestHandler(sdk.CallToolRequestSchema, request => client.callTool(request.params));
await server.connect(new sdk.StdioServerTransport());
process.stdin.on('end', () => {
	client.close().finally(() => process.exit(0));
});
