import {Agent, request} from 'undici';
import {type Address, type Connection, isResponse, type Message, type Outcome} from './exchange.js';

const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const META = {
	[`${PREFIX}protocolVersion`]: MODERN,
	[`${PREFIX}clientInfo`]: {name: 'soak', version: '1'},
	[`${PREFIX}clientCapabilities`]: {},
};
const MAX_HEADER_BYTES = 65_536;

/** One pool for all clients of this process. */
export const pool = new Agent({maxHeaderSize: MAX_HEADER_BYTES});

type Headers = {readonly [name: string]: string};

/** The messages in a body: JSON, or a stream of events. */
function messagesIn(type: string, text: string): Message[] {
	const events = [...text.matchAll(/^data:(.*)$/gm)].map(([, data = '']) => data);
	const parts = type.startsWith('text/event-stream') ? events : [text];
	return parts.filter(part => part.trim() !== '').map(part => JSON.parse(part) as Message);
}

/** Posts one message. */
export async function post(
	address: Address,
	message: Message,
	more: Headers,
	path = address.path,
): Promise<Outcome> {
	try {
		const {statusCode, headers, body} = await request(new URL(path, address.base), {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				'x-bridge-token': address.token,
				...more,
			},
			body: JSON.stringify({jsonrpc: '2.0', ...message}),
			signal: AbortSignal.timeout(address.patienceMs),
			dispatcher: pool,
		});
		const text = await body.text();
		const sessionId = headers['mcp-session-id'];
		return {
			status: statusCode,
			responses: messagesIn(String(headers['content-type'] ?? ''), text).filter(isResponse),
			...(typeof sessionId === 'string' ? {sessionId} : {}),
		};
	} catch (error) {
		return {responses: [], lost: String(error)};
	}
}

/** Streamable HTTP with a session. */
export class HttpConnection implements Connection {
	readonly #address: Address;
	#headers: Headers = {};

	constructor(address: Address) {
		this.#address = address;
	}

	async request(message: Message): Promise<Outcome> {
		const outcome = await post(this.#address, message, this.#headers);
		if (outcome.sessionId !== undefined) this.#headers = {'mcp-session-id': outcome.sessionId};
		return outcome;
	}

	async notify(message: Message): Promise<void> {
		await post(this.#address, message, this.#headers);
	}

	close(): void {
		this.#headers = {};
	}
}

/** The stateless protocol: each request contains everything. */
export class ModernConnection implements Connection {
	readonly #address: Address;

	constructor(address: Address) {
		this.#address = address;
	}

	request({params, ...message}: Message): Promise<Outcome> {
		const {name} = params as {readonly name: string};
		const headers = {
			'mcp-protocol-version': MODERN,
			'mcp-method': String(message.method),
			'mcp-name': name,
		};
		return post(this.#address, {...message, params: {...(params as Message), _meta: META}}, headers);
	}

	async notify(): Promise<void> {}

	close(): void {}
}
