import type {IncomingMessage, ServerResponse} from 'node:http';
import {BodyRoom} from '../http/body-room.js';
import {bodyProblem, readBody} from '../http/read-body.js';
import type {Refused} from '../http/refuse.js';

/** Reads the bodies of requests, as long as there is room for them. */
export class Bodies {
	readonly #maxBytes: () => number;
	readonly #room: BodyRoom;

	/** The limit of one may change. */
	constructor(maxBytes: () => number) {
		this.#maxBytes = maxBytes;
		this.#room = new BodyRoom(maxBytes);
	}

	/** Why the body of a request is not even read. */
	problem(req: IncomingMessage): Refused | undefined {
		return bodyProblem(req, this.#maxBytes());
	}

	read(req: IncomingMessage, res: ServerResponse, done: Parameters<typeof readBody>[2]): void {
		readBody(req, this.#maxBytes(), done, this.#room.of(res));
	}
}
