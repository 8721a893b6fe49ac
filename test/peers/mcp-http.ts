import type {JsonResponse} from './json-client.js';

/** A message without `jsonrpc`, which the client below adds. */
interface Outgoing {
	readonly method: string;
	readonly id?: number;
	readonly params?: object;
}

function messagesIn(body: string, type: string): JsonResponse[] {
	if (type.startsWith('application/json')) return [JSON.parse(body) as JsonResponse];
	// Each event of these servers has one line of data. The first event of a stream has no data or an empty
	// line.
	const lines = body.split('\n').filter(line => line.startsWith('data:'));
	return lines.flatMap(line => {
		const text = line.slice('data:'.length).trim();
		return text === '' ? [] : [JSON.parse(text) as JsonResponse];
	});
}

/** A client over streamable HTTP without protocol logic, so that a test controls the order of messages. */
export class McpHttp {
	readonly #url: string;
	readonly #headers: Record<string, string> = {};
	#lastId = 0;

	constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
		this.#url = url;
		this.#headers = {...headers};
	}

	/** Initializes with that version, and returns the response. */
	async connect(protocolVersion: string, capabilities: object = {}): Promise<JsonResponse> {
		const clientInfo = {name: 'acceptance', version: '0'};
		const reply = await this.request('initialize', {protocolVersion, capabilities, clientInfo});
		this.#headers['mcp-protocol-version'] = String(reply.result?.protocolVersion);
		await this.notify('notifications/initialized');
		return reply;
	}

	/** Sends a request, and waits for the response. */
	async request(method: string, params: object = {}): Promise<JsonResponse> {
		this.#lastId += 1;
		const id = this.#lastId;
		const response = await this.#post({id, method, params});
		const body = await response.text();
		const messages = messagesIn(body, response.headers.get('content-type') ?? '');
		const reply = messages.find(message => message.id === id);
		if (reply === undefined) throw new Error(`HTTP ${response.status} without a response: ${body}`);
		return reply;
	}

	async notify(method: string): Promise<void> {
		const response = await this.#post({method});
		if (response.status !== 202) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
	}

	async close(): Promise<void> {
		await fetch(this.#url, {method: 'DELETE', headers: this.#headers});
	}

	async #post(message: Outgoing): Promise<Response> {
		const response = await fetch(this.#url, {
			method: 'POST',
			headers: {
				...this.#headers,
				accept: 'application/json, text/event-stream',
				'content-type': 'application/json',
			},
			body: JSON.stringify({jsonrpc: '2.0', ...message}),
		});
		const session = response.headers.get('mcp-session-id');
		if (session !== null) this.#headers['mcp-session-id'] = session;
		return response;
	}
}
