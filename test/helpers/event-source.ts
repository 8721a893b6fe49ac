import type {Message} from './bridge.js';
import type {RunningGateway} from './gateway.js';

/** An event of a stream. The message of an event without data is empty. */
export type StreamEvent = {readonly id: string | undefined; readonly message: Message};

export class EventSource {
	readonly response: Response;
	text = '';
	readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
	readonly #decoder = new TextDecoder();
	#read = 0;

	constructor(response: Response) {
		this.response = response;
		this.#reader = response.body?.getReader();
	}

	/** The next event. Rejects if the stream ends first. */
	async next(): Promise<StreamEvent> {
		const found = await this.nextOrEnd();
		if (!found) throw new Error(`The stream ended: ${this.response.status} ${this.text}`);
		return found;
	}

	/** The next event with data. */
	async message(): Promise<Message> {
		for (;;) {
			const {message} = await this.next();
			if (Object.keys(message).length > 0) return message;
		}
	}

	async nextOrEnd(): Promise<StreamEvent | undefined> {
		for (;;) {
			const end = this.text.indexOf('\n\n', this.#read);
			if (end === -1) {
				if (!(await this.more())) return;
				continue;
			}
			const block = this.text.slice(this.#read, end);
			this.#read = end + 2;
			if (block.startsWith(':')) continue;
			const data = /^data: ?(.*)$/m.exec(block)?.[1] ?? '';
			const id = /^id: ?(.*)$/m.exec(block)?.[1];
			return {id, message: (data === '' ? {} : JSON.parse(data)) as Message};
		}
	}

	/** Waits for more bytes. Returns false at the end of the stream. */
	async more(): Promise<boolean> {
		const {value, done} = (await this.#reader?.read()) ?? {done: true, value: undefined};
		if (value) this.text += this.#decoder.decode(value, {stream: true});
		return !done;
	}

	async stop(): Promise<void> {
		await this.#reader?.cancel();
	}
}

type Headers = {readonly [name: string]: string};

/** Opens the stream for server-initiated messages of a service. */
export async function listen(
	gateway: RunningGateway,
	service: string,
	headers: Headers,
	lastEventId?: string,
): Promise<EventSource> {
	const more: Headers = lastEventId === undefined ? {} : {'last-event-id': lastEventId};
	const response = await fetch(new URL(`/mcp/${service}`, gateway.base), {
		headers: {...headers, ...more, accept: 'text/event-stream'},
	});
	return new EventSource(response);
}

/** Posts a message and streams the response. */
export async function ask(
	gateway: RunningGateway,
	service: string,
	message: Message,
	headers: Headers,
	signal?: AbortSignal,
): Promise<EventSource> {
	const common = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
	const response = await fetch(new URL(`/mcp/${service}`, gateway.base), {
		method: 'POST',
		headers: {...common, ...headers},
		body: JSON.stringify({jsonrpc: '2.0', ...message}),
		...(signal ? {signal} : {}),
	});
	return new EventSource(response);
}
