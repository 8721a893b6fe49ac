import type {IncomingMessage, ServerResponse} from 'node:http';
import {BodyMemoryLimit} from '../http/body-memory-limit.js';
import {invalidForwarding} from '../http/errors.js';
import type {HttpError} from '../http/http-error.js';
import {readBody, validateBodyHeaders} from '../http/read-body.js';

type MatchesBody = (req: IncomingMessage, body: Buffer) => boolean;

/** Reads request bodies, within the memory limit of all bodies together. */
export class BodyReader {
	readonly #maxBytes: () => number;
	readonly #matchesBody: MatchesBody;
	readonly #memoryLimit: BodyMemoryLimit;

	/**
	 * `maxBytes` may change over time. `matchesBody` detects a body that differs from the one that a replica
	 * forwarded.
	 */
	constructor(maxBytes: () => number, matchesBody: MatchesBody) {
		this.#maxBytes = maxBytes;
		this.#matchesBody = matchesBody;
		this.#memoryLimit = new BodyMemoryLimit(maxBytes);
	}

	validateHeaders(req: IncomingMessage): HttpError | undefined {
		return validateBodyHeaders(req, this.#maxBytes());
	}

	read(req: IncomingMessage, res: ServerResponse, done: Parameters<typeof readBody>[2]): void {
		const checkedDone: typeof done = (body, error) =>
			body && !this.#matchesBody(req, body) ? done(undefined, invalidForwarding) : done(body, error);
		readBody(req, this.#maxBytes(), checkedDone, this.#memoryLimit.forResponse(res));
	}
}
