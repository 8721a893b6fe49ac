import type {IncomingMessage} from 'node:http';
import {countOf} from './header-count.js';
import type {Refused} from './refuse.js';
import {WholeBody} from './whole-body.js';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"?)?$/i;

/** Why the body of a request is not even read. */
export function bodyProblem(req: IncomingMessage, maxBytes: number): Refused | undefined {
	const {headers} = req;
	const type = headers['content-type'] ?? '';
	const isJson = type === 'application/json' || JSON_TYPE.test(type);
	if (!isJson || countOf(req, 'content-type') !== 1)
		return {status: 415, message: 'Unsupported Media Type: Content-Type has to be application/json'};
	const {'content-encoding': encoding = 'identity'} = headers;
	if (encoding !== 'identity')
		return {status: 415, message: 'Unsupported Media Type: a compressed body is not read'};
	if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge(maxBytes);
	return;
}

/** Tells whether there is room for one more piece of a body, and is told when all of it is there. */
export type Room = {take(bytes: number, giveUp: () => void): boolean; settle(): void};

const endless: Room = {take: () => true, settle: () => {}};

/** Reads the body of a request. Calls `done` with it, or with why it was not read to its end. */
export function readBody(
	req: IncomingMessage,
	maxBytes: number,
	done: (body: Buffer | undefined, refused?: Refused) => void,
	room: Room = endless,
): void {
	const body = new WholeBody(maxBytes);
	let isDone = false;
	const giveUp = (refused: Refused): void => {
		isDone = true;
		body.drop();
		req.pause();
		done(undefined, refused);
	};
	const giveWay = (): void => giveUp(noRoom);
	req.on('data', (chunk: Buffer) => {
		if (isDone) return;
		if (!body.add(chunk)) giveUp(tooLarge(maxBytes));
		else if (body.length > chunk.length && !room.take(chunk.length, giveWay)) giveWay();
	});
	req.on('end', () => {
		if (isDone) return;
		isDone = true;
		room.settle();
		done(body.bytes());
	});
}

const noRoom: Refused = {
	status: 503,
	code: -31003,
	message: 'So much is being sent to bridge at the moment that there is no room for more. Try again.',
	facts: {source: 'bridge', kind: 'overloaded'},
	headers: {'retry-after': '1'},
	isLast: true,
};

const tooLarge = (maxBytes: number): Refused => ({
	status: 413,
	code: -31007,
	message: `The message is longer than the limit of ${maxBytes} bytes. Send less at a time, or raise limits.message.`,
	facts: {source: 'bridge', kind: 'too_large', limit: maxBytes},
	isLast: true,
});

/** In which forms a client takes answers: as JSON, and as a stream of events. */
export type Accepts = {readonly json: boolean; readonly events: boolean};

/** Whether a client takes answers as JSON, and as a stream of events. */
export function acceptedBy({headers: {accept}}: IncomingMessage): Accepts {
	// What nearly all clients send, and send each time.
	if (accept === undefined || accept === 'application/json, text/event-stream') return both;
	const types = accept
		.toLowerCase()
		.split(',')
		.map(part => part.split(';', 1)[0]?.trim());
	const has = (...names: string[]): boolean => names.some(name => types.includes(name));
	return {
		json: has('*/*', 'application/*', 'application/json'),
		events: has('*/*', 'text/*', 'text/event-stream'),
	};
}

/** Whether a client names `text/event-stream` itself. A browser that loads an image accepts any type: not counted. */
export const wantsEvents = ({headers: {accept = ''}}: IncomingMessage): boolean =>
	/(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(accept);

const both: Accepts = {json: true, events: true};
