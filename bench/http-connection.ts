import {connect, type Socket} from 'node:net';

/** The part of an HTTP response that an MCP client reads. */
export interface Reply {
	status: number;
	session: string | undefined;
	isEvents: boolean;
	parts: Buffer[];
	size: number;
}
interface Waiting {
	resolve(reply: Reply): void;
	reject(error: Error): void;
}

const NEWLINE = 10;
const HEAD_END = '\r\n\r\n';

/** One keep-alive connection on a bare socket, with one request at a time, so that the client is cheap. */
export class HttpConnection {
	readonly #socket: Socket;
	#waiting: Waiting | undefined;
	#dead: Error | undefined;
	#text = '';
	#reply: Reply | undefined;
	/** Remaining bytes of the body or of its current chunk. */
	#left = 0;
	#isChunked = false;
	#isLastChunk = false;

	constructor(port: number) {
		this.#socket = connect(port, '127.0.0.1');
		this.#socket.setNoDelay(true);
		this.#socket.on('data', chunk => this.#take(chunk));
		this.#socket.on('error', error => this.#fail(error));
		this.#socket.on('close', () => this.#fail(new Error('the connection was closed')));
	}

	/** `head` contains neither Content-Length nor the final empty line. */
	request(head: string, body: string): Promise<Reply> {
		return new Promise((resolve, reject) => {
			if (this.#dead !== undefined) {
				reject(this.#dead);
				return;
			}
			this.#waiting = {resolve, reject};
			this.#socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}${HEAD_END}${body}`);
		});
	}

	close(): void {
		this.#socket.destroy();
	}

	#fail(error: Error): void {
		this.#dead ??= error;
		this.#waiting?.reject(error);
		this.#waiting = undefined;
	}

	#take(chunk: Buffer): void {
		let from = 0;
		while (from < chunk.length) {
			if (this.#reply === undefined) {
				from = this.#takeHead(chunk, from);
			} else if (this.#left > 0) {
				from = this.#takeBody(this.#reply, chunk, from);
			} else {
				from = this.#takeChunkLine(this.#reply, chunk, from);
			}
		}
	}

	#takeHead(chunk: Buffer, from: number): number {
		const before = this.#text.length;
		this.#text += chunk.toString('latin1', from);
		const end = this.#text.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length));
		if (end < 0) {
			return chunk.length;
		}
		const head = this.#text.slice(0, end + 2);
		this.#text = '';
		const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
		this.#isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head);
		this.#isLastChunk = false;
		this.#left = Number(length ?? 0);
		this.#reply = {
			status: Number(head.slice(9, 12)),
			session: /\r\nmcp-session-id: *([^\r]*)/i.exec(head)?.[1],
			isEvents: /\r\ncontent-type: *text\/event-stream/i.test(head),
			parts: [],
			size: 0,
		};
		if (!this.#isChunked && this.#left === 0) {
			this.#done(this.#reply);
		}
		return from + end + HEAD_END.length - before;
	}

	#takeBody(reply: Reply, chunk: Buffer, from: number): number {
		const part = chunk.subarray(from, from + this.#left);
		reply.parts.push(part);
		reply.size += part.length;
		this.#left -= part.length;
		if (this.#left === 0 && !this.#isChunked) {
			this.#done(reply);
		}
		return from + part.length;
	}

	// Between chunks: the end of the last one, the size of the next, or the final empty line.
	#takeChunkLine(reply: Reply, chunk: Buffer, from: number): number {
		const end = chunk.indexOf(NEWLINE, from);
		this.#text += chunk.toString('latin1', from, end < 0 ? chunk.length : end);
		if (end < 0) {
			return chunk.length;
		}
		const line = this.#text.trim();
		this.#text = '';
		if (line !== '') {
			this.#left = Number.parseInt(line, 16);
			this.#isLastChunk = this.#left === 0;
		} else if (this.#isLastChunk) {
			this.#done(reply);
		}
		return end + 1;
	}

	#done(reply: Reply): void {
		const waiting = this.#waiting;
		this.#reply = undefined;
		this.#waiting = undefined;
		waiting?.resolve(reply);
	}
}
