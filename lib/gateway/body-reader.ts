import type {IncomingMessage, ServerResponse} from 'node:http';
import {BodyMemoryLimit} from '../http/body-memory-limit.js';
import {invalidForwarding} from '../http/errors.js';
import type {HttpError} from '../http/http-error.js';
import {readBody, validateBodyHeaders} from '../http/read-body.js';

type MatchesBody = (req: IncomingMessage, body: Buffer) => boolean;

/** Reads the bodies of requests, as long as there is room for them. */
export class BodyReader {
	readonly #maxBytes: () => number;
	readonly #matchesBody: MatchesBody;
	readonly #memoryLimit: BodyMemoryLimit;

	/** The limit of one may change. Another replica tells which body a request has. */
	constructor(maxBytes: () => number, isOf: MatchesBody) {
		this.#maxBytes = maxBytes;
		this.#matchesBody = isOf;
		this.#memoryLimit = new BodyMemoryLimit(maxBytes);
	}

	/** Why the body of a request is not even read. */
	validateHeaders(req: IncomingMessage): HttpError | undefined {
		return validateBodyHeaders(req, this.#maxBytes());
	}

	read(req: IncomingMessage, res: ServerResponse, done: Parameters<typeof readBody>[2]): void {
		const checkedDone: typeof done = (body, refused) =>
			body && !this.#matchesBody(req, body) ? done(undefined, invalidForwarding) : done(body, refused);
		readBody(req, this.#maxBytes(), checkedDone, this.#memoryLimit.forResponse(res));
	}
}
