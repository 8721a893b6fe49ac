import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Duplex} from 'node:stream';
import type {Headers} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Refused, refuse} from '../http/refuse.js';
import {logBug} from '../log.js';
import type {Endpoint} from '../stage.js';
import {SseServer} from '../transports/sse-server.js';
import {acceptWebSocket, wsEndpoint} from '../transports/websocket.js';
import type {Ground} from './begin-session.js';
import type {Bodies} from './bodies.js';
import {type Caller, Conversation} from './conversation.js';
import {limited} from './limited.js';
import {onFirstMessage} from './on-first-message.js';
import type {Service} from './service.js';
import {newSessionId} from './sessions.js';

/** The end of a conversation whose client stays connected for all of it. */
export class StreamClient {
	readonly endpoint: Endpoint;

	constructor(endpoint: Endpoint) {
		this.endpoint = endpoint;
	}

	/** It is there as long as its connection is. */
	readonly isInUse = true;

	async close(): Promise<void> {
		await this.endpoint.close();
	}
}

/** Clients that are spoken to over a connection that stays: HTTP+SSE of 2024-11-05, and WebSocket. */
export class Streams {
	readonly #options: Ground;

	constructor(options: Ground) {
		this.#options = options;
	}

	/** A client begins to listen. */
	listen(res: ServerResponse, service: Service, caller: Caller): void {
		const {log, replicas} = this.#options;
		const own = newSessionId();
		const path = `${service.path}/message`;
		const holder = {service: service.config.name, principal: caller.principal};
		const id = replicas()?.ownId(own, holder) ?? own;
		this.#begin(own, new SseServer(res, {name: 'client', path, log, id}), service, caller);
	}

	/** A client that listens says something. It is read when there is room for it. */
	receive(
		req: IncomingMessage,
		res: ServerResponse,
		id: string,
		{service, caller, bodies}: {readonly service: Service; readonly caller: Caller; readonly bodies: Bodies},
	): Refused | undefined {
		const listener = this.#listener(id, service, caller);
		if (!(listener instanceof SseServer)) return listener;
		const problem = bodies.problem(req);
		if (problem) return problem;
		listener.valve.whenOpen(() =>
			bodies.read(req, res, (line, refused) => {
				if (!line) return refuse(res, refused ?? {status: 400, message: 'Bad Request'});
				res.writeHead(202, {'content-length': 0}).end();
				listener.receive(line, headersOf(caller));
			}),
		);
		return;
	}

	/** The listener that a message is from. */
	#listener(id: string, service: Service, caller: Caller): SseServer | Refused {
		const {sessions} = this.#options;
		const {name} = service.config;
		const held = sessions.find(id, name, caller.principal);
		const endpoint = held?.client instanceof StreamClient ? held.client.endpoint : undefined;
		if (endpoint instanceof SseServer) return endpoint;
		return sessions.unknown(name);
	}

	/** A client changes to WebSocket. */
	async upgrade(
		req: IncomingMessage,
		socket: Duplex,
		head: Buffer,
		{
			service,
			caller,
			maxBytes,
			take,
		}: {
			readonly service: Service;
			readonly caller: Caller;
			readonly maxBytes: number;
			/** Counts a request, if that is done: how long until it may be asked; 0 if it may be. */
			readonly take: (() => number | Promise<number>) | undefined;
		},
	): Promise<void> {
		const accepted = await acceptWebSocket(req, socket, head, maxBytes);
		if (!accepted) return;
		const {log} = this.#options;
		const peer = wsEndpoint(accepted, {
			name: 'client',
			maxBytes,
			headers: headersOf(caller),
			log,
			carrier: socket,
		});
		this.#begin(newSessionId(), take ? limited(peer, take) : peer, service, caller);
	}

	#begin(id: string, endpoint: Endpoint, service: Service, caller: Caller): void {
		const {sessions, converse, log, pending} = this.#options;
		const conversation = new Conversation(service, caller, {tally: pending.of(caller.token)});
		const client = new StreamClient(endpoint);
		try {
			const late = onFirstMessage(converse, error => logBug(log, error));
			sessions.begin({id, client, conversation, place: 'stream'}, endpoint, late);
		} catch (error) {
			// There was room when the client was let in, but somebody else has taken it.
			void endpoint.close();
			if (!(error instanceof BridgeError)) throw error;
		}
	}
}

/** What a client came with that goes on to its server. */
const headersOf = ({authorization}: Caller): Headers => (authorization === undefined ? {} : {authorization});
