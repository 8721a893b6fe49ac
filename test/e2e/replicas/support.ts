import type {ExecutionContext} from 'ava';
import {type Message, opening} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {
	type Answer,
	type GatewayConfig,
	type GatewayOptions,
	messageIn,
	type RunningGateway,
	startGateway,
} from '../../helpers/gateway.js';

export const SECRET = 'a secret that all replicas share';

/** Starts `count` gateways that share a configuration and a secret and advertise their addresses. */
export async function startReplicas(
	t: ExecutionContext,
	count: number,
	config: GatewayConfig,
	options?: GatewayOptions,
): Promise<RunningGateway[]> {
	return Promise.all(Array.from({length: count}, () => startReplica(t, config, undefined, options)));
}

/** Starts one replica, on a free port unless `fixedPort` is set. */
export async function startReplica(
	t: ExecutionContext,
	config: GatewayConfig,
	fixedPort?: number,
	options?: GatewayOptions,
): Promise<RunningGateway> {
	const port = fixedPort ?? (await freePort());
	const address = `127.0.0.1:${port}`;
	const own = {listen: address, advertise: `http://${address}`, secret: SECRET};
	return startGateway(t, {...own, ...config}, options);
}

/** A client that can send each request to a different gateway. */
export class Roamer {
	readonly service: string;
	readonly headers: {[name: string]: string};
	#count = 0;

	constructor(service: string, headers: {readonly [name: string]: string} = {}) {
		this.service = service;
		this.headers = {...headers};
	}

	/** Sends initialize and returns the response. */
	async begin(gateway: RunningGateway): Promise<Message> {
		const reply = await gateway.post(
			this.service,
			{id: 'first', method: 'initialize', params: opening},
			this.headers,
		);
		const id = reply.headers.get('mcp-session-id');
		if (id === null) throw new Error(`No session: ${reply.status} ${reply.text}`);
		this.headers['mcp-session-id'] = id;
		return messageIn(reply);
	}

	/** Completes the handshake, at this or another gateway than begin(). */
	async complete(gateway: RunningGateway): Promise<void> {
		await this.post(gateway, {method: 'notifications/initialized'});
	}

	post(gateway: RunningGateway, message: Message): Promise<Answer> {
		return gateway.post(this.service, message, this.headers);
	}

	/** Sends a request and returns the response. */
	async ask(gateway: RunningGateway, method: string, params: Message = {}): Promise<Message> {
		return messageIn(await this.post(gateway, {id: ++this.#count, method, params}));
	}

	/** The session id. */
	get id(): string {
		return this.headers['mcp-session-id'] ?? '';
	}
}

/** Creates a client and initializes a session at a gateway. */
export async function roam(
	gateway: RunningGateway,
	service: string,
	headers?: {readonly [name: string]: string},
): Promise<Roamer> {
	const client = new Roamer(service, headers);
	await client.begin(gateway);
	await client.complete(gateway);
	return client;
}
