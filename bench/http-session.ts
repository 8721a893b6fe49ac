import {callText, INITIALIZED, initializeParams, withTimeout} from './client.js';
import {HttpConnection, type Reply} from './http-connection.js';
import {type CallResult, readResponse} from './response.js';

/** A session of streamable HTTP with one connection per concurrent call. */
export class HttpSession {
	readonly #url: URL;
	readonly #idle: HttpConnection[] = [];
	readonly #all = new Set<HttpConnection>();
	#head = '';
	#nextId = 1;

	constructor(url: URL) {
		this.#url = url;
		this.#head = this.#headWith('');
	}

	#headWith(more: string): string {
		const {host, pathname} = this.#url;
		const accept = 'application/json, text/event-stream';
		return `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nAccept: ${accept}\r\n${more}`;
	}

	async initialize(protocolVersion: string, ms: number): Promise<void> {
		const id = this.#nextId++;
		const params = initializeParams(protocolVersion);
		const text = JSON.stringify({jsonrpc: '2.0', id, method: 'initialize', params});
		const reply = await withTimeout(this.#post(text), ms, 'initialize');
		const result = resultIn(reply);
		if (!result.ok) {
			throw new Error(`initialize was rejected: ${result.why}`);
		}
		const {protocolVersion: version} = result.result as {protocolVersion: string};
		const session = reply.session === undefined ? '' : `Mcp-Session-Id: ${reply.session}\r\n`;
		this.#head = this.#headWith(`${session}MCP-Protocol-Version: ${version}\r\n`);
		await withTimeout(this.#post(INITIALIZED), ms, 'notifications/initialized');
	}

	async request(method: string, params: unknown, ms: number): Promise<CallResult> {
		const id = this.#nextId++;
		const text = JSON.stringify({jsonrpc: '2.0', id, method, params});
		return resultIn(await withTimeout(this.#post(text), ms, method));
	}

	async call(tool: string, argumentsJson: string): Promise<CallResult> {
		return resultIn(await this.#post(callText(this.#nextId++, tool, argumentsJson)));
	}

	close(): void {
		for (const connection of this.#all) {
			connection.close();
		}
	}

	// Servers close idle connections, possibly at the moment of a request, so it is retried.
	async #post(text: string): Promise<Reply> {
		for (let used = this.#idle.pop(); used !== undefined; used = this.#idle.pop()) {
			const reply = await this.#postOver(used, text).catch(() => undefined);
			if (reply !== undefined) {
				return reply;
			}
		}
		return this.#postOver(this.#connect(), text);
	}

	async #postOver(connection: HttpConnection, text: string): Promise<Reply> {
		try {
			const reply = await connection.request(this.#head, text);
			this.#idle.push(connection);
			return reply;
		} catch (error) {
			this.#all.delete(connection);
			throw error;
		}
	}

	#connect(): HttpConnection {
		const connection = new HttpConnection(Number(this.#url.port));
		this.#all.add(connection);
		return connection;
	}
}

const MARK = Buffer.from('\ndata:');

// The response is the last event of a stream. Earlier events are for resumption or notifications.
const lastEvent = (parts: Buffer[]): Buffer => {
	const all = Buffer.concat([Buffer.from('\n'), ...parts]);
	const at = all.lastIndexOf(MARK);
	return at < 0 ? Buffer.alloc(0) : all.subarray(at + MARK.length);
};

const resultIn = ({status, isEvents, parts, size}: Reply): CallResult => {
	if (status !== 200) {
		return {ok: false, size, why: `HTTP ${status} ${Buffer.concat(parts).toString().slice(0, 200)}`};
	}
	const event = isEvents ? lastEvent(parts) : undefined;
	return event === undefined ? readResponse(parts, size)[1] : readResponse([event], event.length)[1];
};
