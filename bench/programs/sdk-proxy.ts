// The obvious proxy: a Client and a Server of the official SDK back to back. Usage: `node sdk-proxy.js
// FOLDER [--port PORT] (--url URL | -- SERVER ARGS…)`. FOLDER contains the node_modules with the SDK. With a
// port it serves HTTP, otherwise stdio. The SDK is a peer of the bench, not a dependency of the project, so
// it is imported at run time and only the members used here have types.

import {randomUUID} from 'node:crypto';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {createRequire} from 'node:module';
import {join} from 'node:path';

type Params = Record<string, unknown> | undefined;
interface Transport {
	close(): Promise<void>;
}
interface HttpTransport extends Transport {
	handleRequest(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void>;
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
	StreamableHTTPClientTransport: new (url: URL) => Transport;
	StreamableHTTPServerTransport: new (options: {
		sessionIdGenerator: () => string;
		onsessioninitialized: (id: string) => void;
	}) => HttpTransport;
	ListToolsRequestSchema: unknown;
	CallToolRequestSchema: unknown;
}

const [folder = '.', ...others] = process.argv.slice(2);
const flag = (name: string): string | undefined =>
	others.includes(name) ? others[others.indexOf(name) + 1] : undefined;
const [command = '', ...args] = others.slice(others.indexOf('--') + 1);
const url = flag('--url');
const port = flag('--port');
const load = createRequire(join(folder, 'package.json'));
const parts = [
	'client/index',
	'client/stdio',
	'client/streamableHttp',
	'server/index',
	'server/stdio',
	'server/streamableHttp',
	'types',
];
const loaded: unknown[] = parts.map(part => load(`@modelcontextprotocol/sdk/${part}.js`));
const sdk = Object.assign({}, ...loaded) as Sdk;

const info = {name: 'sdk-proxy', version: '1.0.0'};
const client = new sdk.Client(info);
await client.connect(
	url === undefined
		? new sdk.StdioClientTransport({command, args, stderr: 'ignore'})
		: new sdk.StreamableHTTPClientTransport(new URL(url)),
);
const makeServer = (): SdkServer => {
	const server = new sdk.Server(info, {capabilities: client.getServerCapabilities()});
	server.setRequestHandler(sdk.ListToolsRequestSchema, request => client.listTools(request.params));
	server.setRequestHandler(sdk.CallToolRequestSchema, request => client.callTool(request.params));
	return server;
};
const end = (): void => {
	client.close().finally(() => process.exit(0));
};

const sessions = new Map<string, HttpTransport>();
const openSession = async (): Promise<HttpTransport> => {
	const transport: HttpTransport = new sdk.StreamableHTTPServerTransport({
		sessionIdGenerator: randomUUID,
		onsessioninitialized: id => sessions.set(id, transport),
	});
	await makeServer().connect(transport);
	return transport;
};
const serve = (req: IncomingMessage, res: ServerResponse): void => {
	const body: Buffer[] = [];
	req.on('data', (chunk: Buffer) => body.push(chunk));
	req.on('end', async () => {
		const transport = sessions.get(String(req.headers['mcp-session-id'])) ?? (await openSession());
		await transport.handleRequest(req, res, JSON.parse(Buffer.concat(body).toString()));
	});
};

if (port === undefined) {
	await makeServer().connect(new sdk.StdioServerTransport());
	process.stdin.on('end', end);
} else {
	createServer(serve).listen(Number(port), '127.0.0.1');
	process.on('SIGTERM', end);
}
