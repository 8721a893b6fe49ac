import type {IncomingMessage, ServerResponse} from 'node:http';
import {BodyRoom} from '../http/body-room.js';
import {bodyProblem, readBody} from '../http/read-body.js';
import type {Refused} from '../http/refuse.js';
import {noReplica} from './refusals.js';

type IsOf = (req: IncomingMessage, body: Buffer) => boolean;

/** Reads the bodies of requests, as long as there is room for them. */
export class Bodies {
	readonly #maxBytes: () => number;
	readonly #isOf: IsOf;
	readonly #room: BodyRoom;

	/** The limit of one may change. Another replica tells which body a request has. */
	constructor(maxBytes: () => number, isOf: IsOf) {
		this.#maxBytes = maxBytes;
		this.#isOf = isOf;
		this.#room = new BodyRoom(maxBytes);
	}

	/** Why the body of a request is not even read. */
	problem(req: IncomingMessage): Refused | undefined {
		return bodyProblem(req, this.#maxBytes());
	}

	read(req: IncomingMessage, res: ServerResponse, done: Parameters<typeof readBody>[2]): void {
		const checked: typeof done = (body, refused) =>
			body && !this.#isOf(req, body) ? done(undefined, noReplica) : done(body, refused);
		readBody(req, this.#maxBytes(), checked, this.#room.of(res));
	}
}
