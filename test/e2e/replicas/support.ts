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

/** Starts so many gateways with the same configuration, each of which tells the others where it is. */
export async function startReplicas(
	t: ExecutionContext,
	count: number,
	config: GatewayConfig,
	options?: GatewayOptions,
): Promise<RunningGateway[]> {
	return Promise.all(Array.from({length: count}, () => startReplica(t, config, undefined, options)));
}

/** Starts one of them, on this port if one is named. */
export async function startReplica(
	t: ExecutionContext,
	config: GatewayConfig,
	named?: number,
	options?: GatewayOptions,
): Promise<RunningGateway> {
	const port = named ?? (await freePort());
	const address = `127.0.0.1:${port}`;
	const own = {listen: address, advertise: `http://${address}`, secret: SECRET};
	return startGateway(t, {...own, ...config}, options);
}

/** A client whose requests go to whichever gateway it is told. */
export class Roamer {
	readonly service: string;
	readonly headers: {[name: string]: string};
	#count = 0;

	constructor(service: string, headers: {readonly [name: string]: string} = {}) {
		this.service = service;
		this.headers = {...headers};
	}

	/** Begins a session at a gateway. Resolves to what that answered. */
	async begin(gateway: RunningGateway): Promise<Message> {
		const answer = await gateway.post(
			this.service,
			{id: 'first', method: 'initialize', params: opening},
			this.headers,
		);
		const id = answer.headers.get('mcp-session-id');
		if (id === null) throw new Error(`No session: ${answer.status} ${answer.text}`);
		this.headers['mcp-session-id'] = id;
		return messageIn(answer);
	}

	/** Completes the handshake, wherever it was begun. */
	async complete(gateway: RunningGateway): Promise<void> {
		await this.post(gateway, {method: 'notifications/initialized'});
	}

	post(gateway: RunningGateway, message: Message): Promise<Answer> {
		return gateway.post(this.service, message, this.headers);
	}

	/** Asks, and resolves to the message that answers it. */
	async ask(gateway: RunningGateway, method: string, params: Message = {}): Promise<Message> {
		return messageIn(await this.post(gateway, {id: ++this.#count, method, params}));
	}

	/** The id that it has been given. */
	get id(): string {
		return this.headers['mcp-session-id'] ?? '';
	}
}

/** A client that has shaken hands at a gateway. */
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
