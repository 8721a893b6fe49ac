import {randomUUID} from 'node:crypto';
import {
	createServer,
	type IncomingHttpHeaders,
	type IncomingMessage,
	type OutgoingHttpHeaders,
	type Server,
	type ServerResponse,
} from 'node:http';
import {type AddressInfo, createServer as createTcpServer, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';
import type {Message} from './bridge.js';

export type Met = {
	readonly verb: string;
	readonly headers: IncomingHttpHeaders;
	/** The message in the body; empty if there is none. */
	readonly message: Message;
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
};

/** Replaces the standard behavior for a request. Returns whether it handled the request. */
export type Mood = (met: Met, upstream: Upstream) => boolean;

/** A streamable HTTP server that records its requests, and whose behavior tests can replace. */
export class Upstream {
	readonly server: Server;
	readonly met: Met[] = [];
	readonly sessions = new Set<string>();
	executions = 0;
	tools: readonly Message[] = [{name: 'echo', inputSchema: {type: 'object'}}];
	mood: Mood = () => false;
	/** The protocol version in its response. Default: the requested version. */
	version: string | undefined;
	/** Whether it has sessions, and a stream for server-initiated messages. */
	hasSessions = true;
	hasStream = true;
	/** The open streams for server-initiated messages, the latest last. */
	readonly streams: ServerResponse[] = [];
	readonly #checks = new Set<() => void>();

	constructor() {
		this.server = createServer((request, response) => void this.#handle(request, response));
	}

	get port(): number {
		return (this.server.address() as AddressInfo).port;
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}/mcp`;
	}

	/** Drops all sessions, like a server that was restarted. */
	lose(): void {
		this.sessions.clear();
		for (const stream of this.streams.splice(0)) stream.end();
	}

	/** The requests with this protocol method; without a message, with this HTTP method. */
	asked(method: string): Met[] {
		return this.met.filter(({verb, message}) => (message.method ?? verb) === method);
	}

	/** The n-th request of this method, whether it has arrived or not. */
	meets(method: string, count = 1): Promise<Met> {
		return this.becomes(() => this.asked(method)[count - 1]);
	}

	/** Waits until the function returns a value, which it checks after every request. */
	becomes<T>(getValue: () => T | undefined): Promise<T> {
		return new Promise(resolve => {
			const check = (): void => {
				const found = getValue();
				if (found === undefined) return;
				this.#checks.delete(check);
				resolve(found);
			};
			this.#checks.add(check);
			check();
		});
	}

	async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		response.on('error', () => {});
		try {
			for await (const chunk of request) chunks.push(chunk as Buffer);
		} catch {
			return;
		}
		const text = Buffer.concat(chunks).toString();
		const {method: verb = '', headers} = request;
		const message = (text === '' ? {} : JSON.parse(text)) as Message;
		const met = {verb, headers, message, request, response};
		this.met.push(met);
		if (!this.mood(met, this)) this.behave(met);
		for (const check of [...this.#checks]) check();
	}

	/** Responds like a correct server. */
	behave(met: Met): void {
		const {verb, headers, message, response} = met;
		const session = headers['mcp-session-id'];
		const isKnown = !this.hasSessions || (typeof session === 'string' && this.sessions.has(session));
		const isModern = headers['mcp-protocol-version'] === '2026-07-28';
		if (message.method === 'initialize') this.#initialize(met);
		else if (!isKnown && !isModern) unknownSession(met);
		else if (verb === 'DELETE') {
			this.sessions.delete(String(session));
			response.writeHead(200).end();
		} else if (verb === 'GET') this.#listen(response);
		else if (message.id === undefined || message.method === undefined) response.writeHead(202).end();
		else this.#respond(met);
	}

	#initialize(met: Met): void {
		const {protocolVersion} = met.message.params as {protocolVersion: string};
		const session = randomUUID();
		if (this.hasSessions) this.sessions.add(session);
		const result = {
			protocolVersion: this.version ?? protocolVersion,
			capabilities: {tools: {listChanged: true}},
			serverInfo: {name: 'upstream', version: '1'},
		};
		reply(met, {result}, this.hasSessions ? {'Mcp-Session-Id': session} : {});
	}

	#listen(response: ServerResponse): void {
		if (!this.hasStream) {
			response.writeHead(405, {allow: 'POST'}).end();
			return;
		}
		response.writeHead(200, {'content-type': 'text/event-stream'}).flushHeaders();
		this.streams.push(response);
	}

	#respond(met: Met): void {
		const {method, params} = met.message;
		if (method === 'tools/list') reply(met, {result: {...statelessFields(met), tools: this.tools}});
		else if (method === 'tools/call')
			reply(met, {result: {...statelessFields(met), ...this.execute(params)}});
		else if (method === 'ping') reply(met, {result: {}});
		else if (method === 'server/discover') reply(met, {result: discovery});
		else reply(met, {error: {code: -32601, message: `Method not found: ${method}`}});
	}

	execute(params: unknown): Message {
		this.executions++;
		return {content: [{type: 'text', text: JSON.stringify(params)}]};
	}

	/** Sends a message on the latest stream. */
	say(message: Message): void {
		this.streams.at(-1)?.write(event(message));
	}
}

const discovery = {
	resultType: 'complete',
	ttlMs: 0,
	cacheScope: 'private',
	supportedVersions: ['2026-07-28'],
	capabilities: {tools: {}},
	_meta: {'io.modelcontextprotocol/serverInfo': {name: 'upstream', version: '1'}},
};

const statelessFields = ({headers, message: {method}}: Met): Message => ({
	...(headers['mcp-protocol-version'] === '2026-07-28' ? {resultType: 'complete'} : {}),
	...(method === 'tools/list' && headers['mcp-protocol-version'] === '2026-07-28'
		? {ttlMs: 0, cacheScope: 'private'}
		: {}),
});

export function reply(
	{message: {id}, response}: Met,
	body: Message,
	headers: OutgoingHttpHeaders = {},
): void {
	response.writeHead(200, {'content-type': 'application/json', ...headers});
	response.end(JSON.stringify({jsonrpc: '2.0', id, ...body}));
}

export const event = (message: Message, id?: string): string =>
	`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({jsonrpc: '2.0', ...message})}\n\n`;

/** Starts a response that is a stream of events. */
export function stream({response}: Met, ...events: readonly string[]): ServerResponse {
	response.writeHead(200, {'content-type': 'text/event-stream'});
	response.write(events.join(''));
	return response;
}

/** Responds like a server of the SDK to an unknown session. */
export function unknownSession({response}: Met): void {
	response.writeHead(404, {'content-type': 'application/json'});
	response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
}

/** Starts an upstream on a free port, and closes it after the test. */
export async function startUpstream(t: ExecutionContext, mood?: Mood): Promise<Upstream> {
	const upstream = new Upstream();
	if (mood) upstream.mood = mood;
	await new Promise<void>(resolve => upstream.server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		upstream.server.closeAllConnections();
		upstream.server.close();
	});
	return upstream;
}

/** Starts a TCP server with this connection handler, and returns its port. */
export async function startTcp(t: ExecutionContext, onSocket: (socket: Socket) => void): Promise<number> {
	const sockets = new Set<Socket>();
	const server = createTcpServer(socket => {
		sockets.add(socket.on('error', () => {}));
		onSocket(socket);
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	return (server.address() as AddressInfo).port;
}
