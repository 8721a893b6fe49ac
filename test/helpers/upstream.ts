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

/** One HTTP request that an upstream got. */
export type Met = {
	/** The method of HTTP. */
	readonly verb: string;
	readonly headers: IncomingHttpHeaders;
	/** The message in its body; nothing where there is none. */
	readonly message: Message;
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
};

/** Does something else with a request than a good server would. Returns whether it did. */
export type Mood = (met: Met, upstream: Upstream) => boolean;

/** A server of streamable HTTP that keeps count of what it does, and behaves as badly as it is told to. */
export class Upstream {
	readonly server: Server;
	readonly met: Met[] = [];
	readonly sessions = new Set<string>();
	/** How many calls of tools were carried out. */
	executions = 0;
	/** What it lists. */
	tools: readonly Message[] = [{name: 'echo', inputSchema: {type: 'object'}}];
	mood: Mood = () => false;
	/** The version that it speaks; whatever it is asked for, where there is none. */
	version: string | undefined;
	/** Whether it has sessions, and a stream for what it says of its own accord. */
	hasSessions = true;
	hasStream = true;
	/** The streams that are open for that, the latest last. */
	readonly streams: ServerResponse[] = [];
	readonly #waiting = new Set<() => void>();

	constructor() {
		this.server = createServer((request, response) => void this.#take(request, response));
	}

	get port(): number {
		return (this.server.address() as AddressInfo).port;
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}/mcp`;
	}

	/** Forgets all sessions, as a server does that was started again. */
	lose(): void {
		this.sessions.clear();
		for (const stream of this.streams.splice(0)) stream.end();
	}

	/** What it was asked of this kind so far: a method of the protocol, or of HTTP where there is no message. */
	asked(method: string): Met[] {
		return this.met.filter(({verb, message}) => (message.method ?? verb) === method);
	}

	/** The n-th request of this kind, be it there already or yet to come. */
	meets(method: string, count = 1): Promise<Met> {
		return this.becomes(() => this.asked(method)[count - 1]);
	}

	/** Waits until something has been met that makes this be there. */
	becomes<T>(look: () => T | undefined): Promise<T> {
		return new Promise(resolve => {
			const check = (): void => {
				const found = look();
				if (found === undefined) return;
				this.#waiting.delete(check);
				resolve(found);
			};
			this.#waiting.add(check);
			check();
		});
	}

	async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
		for (const check of [...this.#waiting]) check();
	}

	/** Does what a good server does. */
	behave(met: Met): void {
		const {verb, headers, message, response} = met;
		const session = headers['mcp-session-id'];
		const isKnown = !this.hasSessions || (typeof session === 'string' && this.sessions.has(session));
		const isModern = headers['mcp-protocol-version'] === '2026-07-28';
		if (message.method === 'initialize') this.#begin(met);
		else if (!isKnown && !isModern) unknownSession(met);
		else if (verb === 'DELETE') {
			this.sessions.delete(String(session));
			response.writeHead(200).end();
		} else if (verb === 'GET') this.#listen(response);
		else if (message.id === undefined || message.method === undefined) response.writeHead(202).end();
		else this.#answer(met);
	}

	#begin(met: Met): void {
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

	#answer(met: Met): void {
		const {method, params} = met.message;
		if (method === 'tools/list') reply(met, {result: {...modernFields(met), tools: this.tools}});
		else if (method === 'tools/call') reply(met, {result: {...modernFields(met), ...this.execute(params)}});
		else if (method === 'ping') reply(met, {result: {}});
		else if (method === 'server/discover') reply(met, {result: discovery});
		else reply(met, {error: {code: -32601, message: `There is no method ${method}.`}});
	}

	/** Carries a call out. */
	execute(params: unknown): Message {
		this.executions++;
		return {content: [{type: 'text', text: JSON.stringify(params)}]};
	}

	/** Says something of its own accord, on the latest stream. */
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

const modernFields = ({headers, message: {method}}: Met): Message => ({
	...(headers['mcp-protocol-version'] === '2026-07-28' ? {resultType: 'complete'} : {}),
	...(method === 'tools/list' && headers['mcp-protocol-version'] === '2026-07-28'
		? {ttlMs: 0, cacheScope: 'private'}
		: {}),
});

/** Answers as JSON. */
export function reply(
	{message: {id}, response}: Met,
	body: Message,
	headers: OutgoingHttpHeaders = {},
): void {
	response.writeHead(200, {'content-type': 'application/json', ...headers});
	response.end(JSON.stringify({jsonrpc: '2.0', id, ...body}));
}

/** One event of a stream, with an id if one is given. */
export const event = (message: Message, id?: string): string =>
	`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({jsonrpc: '2.0', ...message})}\n\n`;

/** Begins an answer that is a stream of events. */
export function stream({response}: Met, ...events: readonly string[]): ServerResponse {
	response.writeHead(200, {'content-type': 'text/event-stream'});
	response.write(events.join(''));
	return response;
}

/** Answers as the SDK's servers do when they do not know a session. */
export function unknownSession({response}: Met): void {
	response.writeHead(404, {'content-type': 'application/json'});
	response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
}

/** Starts one on a port of its own, for no longer than the test lasts. */
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

/** A server that speaks whatever it likes to whoever connects. Returns its port. */
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
