import {once} from 'node:events';
import {createParser} from 'eventsource-parser';
import {request} from 'undici';
import {WebSocket} from 'ws';
import {type Address, type Connection, type Message, type Outcome, Pending} from './exchange.js';
import {pool, post} from './posts.js';

/** HTTP+SSE of 2024-11-05. */
export class SseConnection implements Connection {
	readonly #address: Address;
	readonly #pending: Pending;
	readonly #abort = new AbortController();
	#path = '';

	constructor(address: Address) {
		this.#address = address;
		this.#pending = new Pending(address);
	}

	/** Opens the stream. Resolves when the endpoint event has arrived. */
	async open(): Promise<void> {
		const {base, path, token} = this.#address;
		const {statusCode, body} = await request(new URL(`${path}/sse`, base), {
			headers: {accept: 'text/event-stream', 'x-bridge-token': token},
			signal: this.#abort.signal,
			dispatcher: pool,
			bodyTimeout: 0,
		});
		if (statusCode !== 200) throw new Error(`HTTP ${statusCode} for the stream: ${await body.text()}`);
		await new Promise<void>((resolve, reject) => {
			const parser = createParser({
				onEvent: ({event, data}) => {
					if (event !== 'endpoint') return this.#pending.take(JSON.parse(data) as Message);
					this.#path = data;
					resolve();
				},
			});
			const ended = (): void => {
				reject(new Error('The stream ended.'));
				this.#pending.fail('the stream ended');
			};
			const decoder = new TextDecoder();
			body.on('data', (chunk: Buffer) => parser.feed(decoder.decode(chunk, {stream: true})));
			body.on('end', ended).on('error', ended).on('close', ended);
		});
	}

	async request(message: Message): Promise<Outcome> {
		const outcome = this.#pending.wait(message.id);
		const accepted = await post(this.#address, message, {}, this.#path);
		if (accepted.status === 202) return outcome;
		this.#pending.fail('rejected', message.id);
		return accepted;
	}

	async notify(message: Message): Promise<void> {
		await post(this.#address, message, {}, this.#path);
	}

	close(): void {
		this.#abort.abort();
	}
}

export class WsConnection implements Connection {
	readonly #pending: Pending;
	readonly #socket: WebSocket;

	constructor(address: Address) {
		this.#pending = new Pending(address);
		const url = new URL(address.path, address.base);
		url.protocol = 'ws:';
		this.#socket = new WebSocket(url, 'mcp', {headers: {'x-bridge-token': address.token}});
		this.#socket.on('message', data => this.#pending.take(JSON.parse(String(data)) as Message));
		this.#socket.on('error', () => {});
		this.#socket.on('close', code => this.#pending.fail(`the WebSocket closed with ${code}`));
	}

	async open(): Promise<void> {
		await once(this.#socket, 'open');
	}

	request(message: Message): Promise<Outcome> {
		const outcome = this.#pending.wait(message.id);
		if (this.#socket.readyState === WebSocket.OPEN) this.#send(message);
		else this.#pending.fail('the WebSocket is closed', message.id);
		return outcome;
	}

	async notify(message: Message): Promise<void> {
		this.#send(message);
	}

	close(): void {
		this.#socket.terminate();
	}

	#send(message: Message): void {
		this.#socket.send(JSON.stringify({jsonrpc: '2.0', ...message}));
	}
}
